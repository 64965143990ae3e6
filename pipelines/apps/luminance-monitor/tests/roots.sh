# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced after setup.sh: other releases of Debian, each in its own root.

# cannot WHY...: prints the reason and exits with 125
cannot() { echo "${0##*/}: $*" >&2; exit 125; }

check_rights() {
  [ "$(id -u)" -eq 0 ] || cannot 'that needs root'
  unshare --mount true 2>/dev/null || cannot 'a mount namespace is refused'
}

# The root gets apt's network settings of this machine.
apt_options() {
  apt-config dump Acquire | grep -E '^Acquire::(Check-(Date|Valid-Until)|https?::.*) ' || true
  echo 'APT::Install-Recommends "false"; APT::Sandbox::User "root"; Acquire::Languages "none";'
}

# known_mirror: prints the mirror from which apt gets this Debian, which has other releases, too.
# shellcheck disable=SC2016  # apt fills these in
known_mirror() {
  apt-get indextargets --format '$(CODENAME) $(REPO_URI)' \
    'Created-By: Packages' 'Origin: Debian' 'Component: main' 2>/dev/null |
    sed -n '/^[^ -]* /{ s/^[^ ]* //p; q }'
}

# find_mirror: sets `mirror`.
find_mirror() {
  mirror=${DEBIAN_MIRROR:-$(known_mirror)}
  if [ -z "$mirror" ] && command -v apt-get >/dev/null; then
    apt_get update || true  # its lists may have been removed
    mirror=$(known_mirror)
  fi
  [ -n "$mirror" ] || cannot 'apt has no mirror of Debian here; DEBIAN_MIRROR=URI names one'
}

# need_root RELEASE DIR PACKAGES [OPTION...]: makes the root DIR with these packages, a string,
# unless it exists. The options are mmdebstrap's.
need_root() {
  local suite=$1 dir=$2 packages=$3
  shift 3
  [ "$(cat "$dir/packages" 2>/dev/null)" != "$packages" ] || return 0
  (need_packages mmdebstrap debian-archive-keyring) || cannot 'mmdebstrap cannot be installed'
  find_mirror
  # shellcheck disable=SC2154  # app is set by setup.sh
  echo "Making a root of Debian $suite in ${dir#"$app/"}"
  rm -rf --one-file-system "$dir"
  quietly unshare --mount -- mmdebstrap --quiet --mode=root --variant=apt \
    --aptopt="$(apt_options)" --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --include="$packages" "$@" "$suite" "$dir" "$mirror" ||
    cannot "there is no root of Debian $suite"
  echo "$packages" >"$dir/packages"
}

# show DIR FOLDER...: mounts the folders at the same paths in the root DIR
show() {
  local dir=$1 folder
  shift
  for folder; do
    mkdir -p "$dir$folder"
    mount --rbind "$folder" "$dir$folder"
  done
}
