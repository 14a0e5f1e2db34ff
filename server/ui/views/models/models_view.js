/* The view "Models". */
import { h } from '../../base/preact.js';

export function ModelsView() {
    return h('h1', {}, 'Models');
}
