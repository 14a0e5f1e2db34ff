/* The view "Train". */
import { h } from '../../base/preact.js';

export function TrainView() {
    return h('h1', {}, 'Train');
}
