/* Preact (Debian's node-preact 8), as all modules of the page import it. */
import { h as create } from '../preact/preact.js';
import { marked } from './bidi.js';

export { Component, render } from '../preact/preact.js';

const READ = ['title', 'aria-label', 'aria-valuetext', 'placeholder']; /* attributes with text */

function shown(child) {
    return typeof child === 'string' ? marked(child)
        : Array.isArray(child) ? child.map(shown) : child;
}

/* Makes a node. Control characters in its texts are marked. */
export function h(type, props, ...children) {
    if (typeof type !== 'string') {
        return create(type, props, ...children);
    }
    const attributes = { ...props };
    for (const name of READ) {
        if (typeof attributes[name] === 'string') {
            attributes[name] = marked(attributes[name]);
        }
    }
    return create(type, attributes, ...children.map(shown));
}
