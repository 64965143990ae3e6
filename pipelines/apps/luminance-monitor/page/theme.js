// SPDX-License-Identifier: LGPL-2.1-or-later
// The colour theme: dark, light, or the system's. The button selects the next one; the choice is stored.
import {remember, remembered} from './dom.js';

const THEMES = {
  auto: {sign: '◐', title: 'Colours: same as the system'},
  dark: {sign: '☾', title: 'Colours: dark'},
  light: {sign: '☀', title: 'Colours: light'},
};

function apply(button, theme) {
  document.documentElement.dataset.theme = theme;
  button.textContent = THEMES[theme].sign;
  button.title = THEMES[theme].title;
  button.setAttribute('aria-label', THEMES[theme].title);
}

export function offerThemes(button) {
  const names = Object.keys(THEMES);
  let theme = remembered('theme');
  if (!names.includes(theme)) theme = 'auto';
  apply(button, theme);
  button.onclick = () => {
    theme = names[(names.indexOf(theme) + 1) % names.length];
    remember('theme', theme);
    apply(button, theme);
  };
}
