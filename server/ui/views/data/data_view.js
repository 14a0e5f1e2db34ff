/* The view "Data". */
import { h } from '../../base/preact.js';

export function DataView() {
    return h('h1', {}, 'Data');
}
