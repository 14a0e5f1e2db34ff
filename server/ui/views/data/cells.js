/* Cells of tables, and paging through what is too long to show. */
import { h } from '../../base/preact.js';
import { count } from '../../base/format.js';

const LONGEST = 120; /* characters of a cell */

/* The text of a cell. A missing value gets a mark of its own. absent: the value of a cell that a
 * sparse row does not have. */
export function cellText(value, absent = null) {
    const given = value === undefined ? absent : value;
    if (given === null) {
        return h('span', { class: 'missing' }, 'missing');
    }
    const text = String(given);
    return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/* "Columns 1–20 of 500" with buttons. Nothing if all fit a page.
 *
 *   noun         of what; first: index of the first one shown; page, total: numbers of them
 *   onFirst      gets the new index
 */
export function Pager({ noun, first, page, total, onFirst }) {
    if (total <= page) {
        return null;
    }
    const nouns = `${noun}s`;
    const last = Math.min(first + page, total);
    return h('div', { class: 'buttons pager' }, [
        h('button', {
            type: 'button', disabled: first === 0, 'aria-label': `Previous ${nouns}`,
            onClick: () => onFirst(Math.max(first - page, 0)),
        }, '←'),
        h('span', { 'aria-live': 'polite' },
            `${nouns[0].toUpperCase()}${nouns.slice(1)} ${count(first + 1)}–${count(last)} of ` +
            count(total)),
        h('button', {
            type: 'button', disabled: last >= total, 'aria-label': `Next ${nouns}`,
            onClick: () => onFirst(first + page),
        }, '→'),
    ]);
}
