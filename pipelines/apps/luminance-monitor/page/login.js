// SPDX-License-Identifier: LGPL-2.1-or-later
// After the login, the page opens the camera that was requested, with the stored theme.
import {remembered} from './dom.js';

for (const form of document.forms) form.action = `login${location.hash}`;
// A browser does not send the cookie if a link of another site led here.
fetch('api/v1/session').then((answer) => answer.json()).then(({logged_in}) => {
  if (logged_in) location.replace(`./${location.hash}`);
}, () => {});
const theme = remembered('theme');
if (theme) document.documentElement.dataset.theme = theme;
