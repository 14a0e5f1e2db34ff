/* The view "Try". */
import { h } from '../../base/preact.js';

export function TryView() {
    return h('h1', {}, 'Try');
}
