/* The view "Jobs". */
import { h } from '../../base/preact.js';

export function JobsView() {
    return h('h1', {}, 'Jobs');
}
