/* A number with a label. */
import { h } from '../../base/preact.js';
import { number } from '../../base/format.js';

/* value: a number or a text */
export function Fact({ label, value }) {
    return h('div', { class: 'fact' }, [
        h('strong', {}, typeof value === 'string' ? value : number(value)),
        h('span', {}, label),
    ]);
}
