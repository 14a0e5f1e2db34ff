/* Whether lists show names that expire, which are those of the playground and of other scratch
 * work. It is in the URL: ?expiring=true. */
import { h } from '../base/preact.js';
import { place, setQuery } from '../base/place.js';
import { Check } from './fields.js';

export function showsExpiring() {
    return place().query.expiring === 'true';
}

/* The query parameter `expires` of a list; undefined: all names are listed. */
export function expiresQuery() {
    return showsExpiring() ? undefined : false;
}

export function ExpiringCheck() {
    return h(Check, {
        label: 'Show names that expire', checked: showsExpiring(),
        onChange: (checked) => setQuery({ expiring: checked ? 'true' : '', after: '' }),
    });
}
