/* Whether lists show names that expire, which are those of the playground and of other scratch
 * work. It is in the URL: ?expiring=true. */
import { h } from '../base/preact.js';
import { list } from '../base/api.js';
import { plural } from '../base/format.js';
import { place, setQuery } from '../base/place.js';
import { Check } from './fields.js';

const MOST = 1000; /* that are counted */

export function showsExpiring() {
    return place().query.expiring === 'true';
}

/* The query parameter `expires` of a list; undefined: all names are listed. */
export function expiresQuery() {
    return showsExpiring() ? undefined : false;
}

/* Resolves to the number of items that a list without items hides as their names expire. query: of
 * the list. */
export async function countHidden(where, items, signal, query = { fields: 'name' }) {
    if (items.length > 0 || showsExpiring()) {
        return 0;
    }
    return (await list(where, { query: { ...query, expires: true }, most: MOST, signal })).length;
}

/* In place of a list whose items are all hidden. n: their number; noun: what they are. */
export function OnlyExpiring({ n, noun }) {
    return h('div', { class: 'empty' }, [
        h('p', {}, n === 1 ? `1 ${noun} that expires is hidden.`
            : `${n >= MOST ? 'More than ' : ''}${plural(n, noun)} that expire are hidden.`),
        h('button', {
            type: 'button', onClick: () => setQuery({ expiring: 'true', after: '' }),
        }, n === 1 ? 'Show it' : 'Show them'),
    ]);
}

export function ExpiringCheck() {
    return h(Check, {
        label: 'Show names that expire', checked: showsExpiring(),
        onChange: (checked) => setQuery({ expiring: checked ? 'true' : '', after: '' }),
    });
}
