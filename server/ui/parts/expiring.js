/* Whether lists show names that expire, which are those of the playground and of other scratch
 * work. It is in the URL: ?expiring=true. */
import { h } from '../base/preact.js';
import { get } from '../base/api.js';
import { place, setQuery } from '../base/place.js';
import { Check } from './fields.js';

export function showsExpiring() {
    return place().query.expiring === 'true';
}

/* The query parameter `expires` of a list; undefined: all names are listed. */
export function expiresQuery() {
    return showsExpiring() ? undefined : false;
}

/* Resolves to whether the items of a list are none as all names expire and are not shown. */
export async function hidesAll(where, items, signal) {
    if (items.length > 0 || showsExpiring()) {
        return false;
    }
    const query = { fields: 'name', expires: true, limit: 1 };
    return (await get(where, { query, signal })).items.length > 0;
}

/* In place of an empty list. all: what the list has. */
export function OnlyExpiring({ all }) {
    return h('p', { class: 'empty' }, `${all} expire. Tick “Show names that expire” to see them.`);
}

export function ExpiringCheck() {
    return h(Check, {
        label: 'Show names that expire', checked: showsExpiring(),
        onChange: (checked) => setQuery({ expiring: checked ? 'true' : '', after: '' }),
    });
}
