/* Preact (Debian's node-preact 8), as all modules of the page import it. */
export { h, Component, render } from '../preact/preact.js';
