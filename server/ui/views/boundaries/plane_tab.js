/* The plane of a model over two of its columns, with its controls. */
import { h } from '../../base/preact.js';
import { link, setQuery } from '../../base/place.js';
import { Choice } from '../../parts/fields.js';
import { Loaded } from '../../parts/loaded.js';
import { axesOf, importantColumns, obstacle } from './columns.js';
import { Drawing } from './drawing.js';
import { Line } from './line.js';

/* Why there is no plane, and what can be done with the model instead. */
function Impossible({ model, reason }) {
    return h('div', { class: 'empty' }, [
        h('p', {}, reason),
        h('div', { class: 'buttons centred' }, [
            h('a', { class: 'button primary', href: link(['try', model.name]) }, 'Try the model'),
            h('a', { class: 'button', href: link(['models', model.name]) }, 'About this model'),
        ]),
    ]);
}

/* The choice of the two columns. */
function Axes({ axes, x, y }) {
    const names = axes.map(({ name }) => name);
    const set = (changes) => setQuery({ ...changes, window: undefined, points: undefined });
    const other = (taken) => names.find((name) => name !== taken);
    return h('div', { class: 'fields' }, [
        h(Choice, {
            label: 'Across', value: x, options: names,
            onChange: (value) => set({ x: value, y: value === y ? (x === value ? other(x) : x)
                : y }),
        }),
        h(Choice, {
            label: 'Up', value: y, options: names,
            onChange: (value) => set({ y: value, x: value === x ? (y === value ? other(y) : y)
                : x }),
        }),
        h('div', { class: 'boundaries-swap' }, h('button', {
            type: 'button', onClick: () => set({ x: y, y: x }),
        }, 'Swap the axes')),
    ]);
}

/* proposed: names of columns, the most important first. */
function Chosen({ model, query, proposed }) {
    const axes = axesOf(model);
    const byName = new Map(axes.map((axis) => [axis.name, axis]));
    const order = [...proposed, ...byName.keys()];
    const x = byName.get(query.x) || byName.get(order.find((name) => name !== query.y));
    const y = byName.get(query.y !== x.name && byName.has(query.y) ? query.y
        : order.find((name) => name !== x.name));
    return h('div', { class: 'stack' }, [
        h(Axes, { axes, x: x.name, y: y.name }),
        h(Drawing, { model, query, x, y, key: `${x.name}\n${y.name}` }),
    ]);
}

export function PlaneTab({ model, query }) {
    const reason = obstacle(model);
    if (reason) {
        return h(Impossible, { model, reason });
    }
    const axes = axesOf(model);
    if (axes.length === 1) {
        return h(Line, { model, query, x: axes[0] });
    }
    const chosen = axes.some(({ name }) => name === query.x) &&
        axes.some(({ name }) => name === query.y);
    return h(Loaded, {
        of: 0, what: 'the columns',
        load: (signal) => (chosen ? Promise.resolve([])
            : importantColumns(model, signal)),
        show: (proposed) => h(Chosen, { model, query, proposed }),
    });
}
