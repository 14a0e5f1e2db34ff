/* The choice of a stored dataset. */
import { h } from '../base/preact.js';
import { list } from '../base/api.js';
import { link } from '../base/place.js';
import { ExpiringCheck, OnlyExpiring, countHidden, expiresQuery } from './expiring.js';
import { Choice } from './fields.js';
import { Loaded } from './loaded.js';

const MOST = 1000;

/* value: a name, or '' for none, which is called `none`; onChange gets a name. preferred: is named
 * as the training data. */
export function DatasetChoice({
    value, onChange, label = 'Data', hint, preferred, none = 'Choose …',
}) {
    return h('div', {}, h(Loaded, {
        of: expiresQuery(), kinds: ['datasets'], what: 'the list of data',
        load: async (signal) => {
            const items = await list('/v1/datasets', {
                query: { fields: 'name', expires: expiresQuery() }, most: MOST, signal,
            });
            return { items, hidden: await countHidden('/v1/datasets', items, signal) };
        },
        show: ({ items, hidden }) => {
            const names = items.map((item) => item.name);
            if (hidden > 0 && value === '') {
                return h(OnlyExpiring, { n: hidden, noun: 'table' });
            }
            if (names.length === 0 && value === '') {
                return h('p', {}, ['There are no data. ',
                    h('a', { href: link(['data']) }, 'Add data')]);
            }
            const known = value === '' || names.includes(value) ? names : [value, ...names];
            return h(Choice, {
                label, hint, value, onChange,
                options: [{ value: '', label: none }, ...known.map((name) => ({
                    value: name, label: name === preferred ? `${name} (training data)` : name }))],
            });
        },
    }), h(ExpiringCheck));
}
