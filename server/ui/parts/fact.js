/* A number with a label, for rows of them (class "facts"). */
import { h } from '../base/preact.js';
import { number } from '../base/format.js';

/* value: a number or a text; more: a text below the label, or null; title: what the label means */
export function Fact({ label, value, more, title }) {
    return h('div', { class: 'fact', title }, [
        h('strong', {}, typeof value === 'string' ? value : number(value)),
        h('span', {}, label),
        more ? h('span', { class: 'fact-spread' }, more) : null,
    ]);
}
