/* The view "Boundaries". */
import { h } from '../../base/preact.js';

export function BoundariesView() {
    return h('h1', {}, 'Boundaries');
}
