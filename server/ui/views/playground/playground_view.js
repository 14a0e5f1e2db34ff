/* The view "Playground". */
import { h } from '../../base/preact.js';

export function PlaygroundView() {
    return h('h1', {}, 'Playground');
}
