// SPDX-License-Identifier: LGPL-2.1-or-later
// Whoever wanted to see a camera is led to it after the login, and in the colours that were chosen.
import {remembered} from './dom.js';

for (const form of document.forms) form.action = `login${location.hash}`;
// A browser keeps the cookie back where a page of another site led here.
fetch('api/v1/session').then((answer) => answer.json()).then(({session}) => {
  if (session) location.replace(`./${location.hash}`);
}, () => {});
const theme = remembered('theme');
if (theme) document.documentElement.dataset.theme = theme;
