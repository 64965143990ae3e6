#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the SBOM of the wheel in the format CycloneDX, from the table of licenses.py: a component for each
package, with the files of the wheel that come from it. PEP 770 says where it is in the wheel.

usage: sbom.py RUNTIME FOLDER
"""
import csv
import os
import platform
import sys
import time
import uuid
from datetime import datetime, timezone
from pathlib import Path

from cyclonedx.contrib.this.builders import this_component
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType, Pedigree
from cyclonedx.model.component_evidence import ComponentEvidence, Occurrence
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

OWN = "gst-cudatensor"
RENAMED = "The names of libraries and symbols are changed, by packaging/wheel/bundle.py."
COMPILED_IN = "Compiled into the files."
BUILT = "Built from Debian's source package, with the options in gst_cudatensor/runtime/licenses/README. "


def purl_of(row):
    """Returns the package URL. `upstream` names the source package, by which Debian's security tracker
    lists what is vulnerable."""
    name, _, architecture = row["package"].partition(":")
    if name == OWN:
        return PackageURL("pypi", None, name, row["version"])
    if name == "cuda-runtime":
        return PackageURL("generic", "nvidia", name, row["version"])
    system = platform.freedesktop_os_release()
    qualifiers = {"arch": "source" if name == "ffmpeg" else architecture,
                  "distro": f"{system['ID']}-{system['VERSION_ID']}",
                  "upstream": row["source"] if row["source"] != name else ""}
    return PackageURL("deb", "debian", name, row["version"],
                      {key: value for key, value in qualifiers.items() if value})


def pedigree_of(purl):
    """Returns how the files differ from those of the package."""
    if purl.name == OWN:
        return None
    if purl.name == "cuda-runtime" or purl.name.endswith("-dev"):
        return Pedigree(notes=COMPILED_IN)
    return Pedigree(notes=BUILT + RENAMED if purl.name == "ffmpeg" else RENAMED)


def component_of(row):
    purl = purl_of(row)
    occurrences = [Occurrence(location=f"gst_cudatensor/runtime/{file}") for file in row["files"].split()]
    return Component(name=purl.name, version=row["version"], type=ComponentType.LIBRARY, purl=purl,
                     bom_ref=str(purl), licenses=[LicenseExpression(row["license"])],
                     pedigree=pedigree_of(purl), evidence=ComponentEvidence(occurrences=occurrences))


def bom_of(table):
    """Returns the SBOM. The same table gives the same SBOM if SOURCE_DATE_EPOCH is set."""
    components = [component_of(row) for row in csv.DictReader(table.splitlines())]
    wheel = next(component for component in components if component.name == OWN)
    components.remove(wheel)
    now = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())), timezone.utc)
    bom = Bom(components=components, serial_number=uuid.uuid5(uuid.NAMESPACE_URL, table),
              metadata=BomMetaData(component=wheel, timestamp=now))
    bom.metadata.tools.components.add(this_component())
    bom.register_dependency(wheel, components)
    return bom


def main():
    runtime, folder = map(Path, sys.argv[1:])
    bom = bom_of((runtime / "licenses/packages.csv").read_text())
    folder.mkdir(parents=True, exist_ok=True)
    JsonV1Dot6(bom).output_to_file(str(folder / f"{OWN}.cdx.json"), allow_overwrite=True, indent=1)


main()
