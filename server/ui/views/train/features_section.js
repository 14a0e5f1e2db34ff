/* Which columns are used, and how they become numbers. */
import { Component, h } from '../../base/preact.js';
import { count, plural } from '../../base/format.js';
import { Check, Choice, TextField } from '../../parts/fields.js';
import { BoundCheck, BoundChoice, BoundNumber } from './bound.js';
import { usedByDefault } from './target.js';

const MOST_SHOWN = 60;

/* The columns that are no features because they have another task. */
function tasks(request) {
    const { target, weight, validation, search } = request;
    return new Map([
        [target, 'the target'], [weight, 'the weights'],
        [validation?.group, 'groups of the test'], [validation?.column, 'marks of the test'],
        [search?.group, 'groups of the search'], [search?.column, 'marks of the search'],
    ].filter(([name]) => name));
}

/* The columns that are used. */
function usedColumns(request, columns, nRows) {
    const { include, exclude } = request.features || {};
    const taken = tasks(request);
    const free = columns.filter((c) => !taken.has(c.name));
    const out = new Set(Array.isArray(exclude) ? exclude : []);
    const usual = free.filter((c) => usedByDefault(c, nRows));
    const given = new Set(Array.isArray(include) ? include : []);
    const asked = Array.isArray(include) ? free.filter((c) => given.has(c.name))
        : usual.length ? usual : free;
    return asked.filter((c) => !out.has(c.name));
}

export function featuresText(request, columns, nRows) {
    const features = request.features || {};
    const used = usedColumns(request, columns, nRows);
    const other = Object.keys(features).filter((name) => !['include', 'exclude'].includes(name));
    return [
        `${count(used.length)} of ${plural(columns.length, 'column')} used`,
        other.length ? `${other.join(', ')} changed` : null,
    ].filter(Boolean).join(', ');
}

/* The columns as check boxes, found by a part of their name. */
class Columns extends Component {
    constructor(props) {
        super(props);
        this.state = { find: '' };
    }

    render({ form, columns, nRows }, { find }) {
        const { request } = form;
        const used = new Set(usedColumns(request, columns, nRows).map((c) => c.name));
        const taken = tasks(request);
        const found = columns.filter((c) => c.name.toLowerCase().includes(find.toLowerCase()));
        const set = (names, use) => {
            const next = new Set(used);
            names.forEach((name) => (use ? next.add(name) : next.delete(name)));
            const usual = usedColumns({ ...request, features: undefined }, columns, nRows);
            const out = usual.filter((c) => !next.has(c.name)).map((c) => c.name);
            const added = next.size > usual.length - out.length;
            const { include, exclude, ...rest } = request.features || {};
            if (added) {
                rest.include = columns.filter((c) => next.has(c.name)).map((c) => c.name);
            } else if (out.length) {
                rest.exclude = out;
            }
            form.set('/features', Object.keys(rest).length ? rest : undefined);
        };
        const shown = found.slice(0, MOST_SHOWN);
        const free = found.filter((c) => !taken.has(c.name)).map((c) => c.name);
        return h('fieldset', { class: 'wide' }, [
            h('legend', {}, 'Columns to use'),
            columns.length > 12 ? h(TextField, {
                label: 'Find a column', type: 'search', value: find,
                onInput: (text) => this.setState({ find: text }),
            }) : null,
            h('div', { class: 'checks' }, shown.map((c) => h(Check, {
                key: c.name, label: c.name, title: c.name, checked: used.has(c.name),
                disabled: taken.has(c.name),
                hint: taken.has(c.name) ? taken.get(c.name)
                    : c.identifier ? `${c.type}, an identifier` : c.type,
                onChange: (use) => set([c.name], use),
            }))),
            found.length > shown.length ? h('p', { class: 'minor' },
                `The first ${shown.length} of ${count(found.length)} columns are shown: ` +
                'find others by their name.') : null,
            h('div', { class: 'buttons' }, [
                h('button', { type: 'button', onClick: () => set(free, true) },
                    find ? 'Use all that were found' : 'Use all'),
                h('button', { type: 'button', onClick: () => set(free, false) },
                    find ? 'Leave out all that were found' : 'Leave out all'),
                h('button', {
                    type: 'button',
                    onClick: () => {
                        const { include, exclude, ...rest } = request.features || {};
                        form.set('/features', Object.keys(rest).length ? rest : undefined);
                    },
                }, 'As proposed'),
            ]),
            form.error('/features/include') || form.error('/features/exclude')
                ? h('p', { class: 'error' }, `${form.error('/features/include')} ${
                    form.error('/features/exclude')}`) : null,
        ]);
    }
}

/* The kinds of bases, their members, and what a new one has. */
const BASES = {
    polynomial: {
        label: 'powers and products of columns (interactions)', start: { degree: 2 },
        members: ['degree', 'interactions'],
    },
    gaussian: {
        label: 'bumps around centres (Gaussian)', start: { centres: 10 },
        members: ['centres', 'width', 'keep', 'standardize'],
    },
    distance: {
        label: 'distances from points', start: {}, members: ['points', 'keep', 'standardize'],
    },
    random_fourier: {
        label: 'random waves (Fourier), as an rbf kernel', start: { features: 100 },
        members: ['features', 'width', 'keep', 'standardize'],
    },
    fisher: {
        label: "Fisher's projection", start: {}, members: ['components', 'keep', 'standardize'],
    },
};

/* [label, hint, placeholder] of the members; without a placeholder it is a check box. */
const MEMBERS = {
    degree: ['Degree', 'The greatest power, 1 to 5.', '2'],
    interactions: ['Also products of different columns', ''],
    centres: ['Centres', 'How many are found, or a list of points.', ''],
    points: ['Points', 'A list such as [[0, 0], [1, 2]], values in the order of the columns.', ''],
    width: ['Width', 'How far a bump reaches; auto: by the distances of the rows.', 'auto'],
    features: ['Number of waves', '', '100'],
    components: ['Directions', 'At most the number of classes minus 1.', 'all'],
    keep: ['Keep the columns themselves', ''],
    standardize: ['Scale the columns first', ''],
};

function Basis({ form, at, basis, onRemove }) {
    const kind = BASES[basis.type];
    return h('fieldset', { class: 'wide' }, [
        h('legend', {}, kind ? kind.label : String(basis.type)),
        h('div', { class: 'fields' }, [
            h(BoundNumber, {
                form, at: `${at}/columns`, label: 'Of the columns', placeholder: 'all numbers',
                hint: 'A list such as ["age", "fare"].',
            }),
            ...(kind ? kind.members : []).map((name) => {
                const [label, hint, placeholder] = MEMBERS[name];
                return placeholder === undefined
                    ? h(BoundCheck, {
                        form, at: `${at}/${name}`, label, byDefault: name === 'interactions',
                    })
                    : h(BoundNumber, { form, at: `${at}/${name}`, label, hint, placeholder });
            }),
        ]),
        h('div', { class: 'buttons' },
            h('button', { type: 'button', onClick: onRemove }, 'Remove')),
    ]);
}

function Bases({ form }) {
    const given = form.get('/features/basis');
    const bases = Array.isArray(given) ? given : [];
    const set = (next) => form.set('/features/basis', next.length ? next : undefined);
    return h('div', { class: 'stack wide' }, [
        ...bases.map((basis, i) => h(Basis, {
            key: i, form, at: `/features/basis/${i}`, basis,
            onRemove: () => set(bases.filter((b, j) => j !== i)),
        })),
        h(Choice, {
            label: 'Add computed features', value: '',
            options: [{ value: '', label: 'choose what to add' },
                ...Object.entries(BASES).map(([value, { label }]) => ({ value, label }))],
            hint: 'Bends the boundary of a linear method.',
            onChange: (type) => type && set([...bases, { type, ...BASES[type].start }]),
        }),
    ]);
}

const yesNo = (yes, no) => [{ value: true, label: yes }, { value: false, label: no }];

const DATE_PARTS = ['seconds', 'year', 'month', 'day', 'weekday', 'hour'];

function DateParts({ form }) {
    const given = form.get('/features/datetime/parts');
    const parts = Array.isArray(given) ? given : ['seconds'];
    return h('fieldset', { class: 'wide' }, [
        h('legend', {}, 'Dates and times are used as'),
        h('div', { class: 'checks' }, DATE_PARTS.map((part) => h(Check, {
            key: part, label: part === 'seconds' ? 'seconds (one number)' : part,
            checked: parts.includes(part),
            onChange: (use) => {
                const next = DATE_PARTS.filter((p) => (p === part ? use : parts.includes(p)));
                form.set('/features/datetime/parts',
                    next.length && next.join() !== 'seconds' ? next : undefined);
            },
        }))),
    ]);
}

function TextFields({ form }) {
    const at = (name) => `/features/text/${name}`;
    const weighting = form.get(at('weighting'));
    return [
        h(BoundChoice, {
            form, at: at('weighting'), label: 'Words of texts count',
            absent: 'how often they occur',
            options: [
                { value: 'binary', label: 'whether they occur' },
                { value: 'tfidf', label: 'rare words more (tf-idf)' },
                { value: 'set', label: 'as a set (for kernels)' },
                { value: 'paths', label: 'as paths of a graph (for kernels)' },
                { value: 'characters', label: 'as characters (for kernels)' },
            ],
        }),
        h(BoundNumber, {
            form, at: at('min_rows'), label: 'Words in at least so many rows', placeholder: '1',
        }),
        h(BoundNumber, {
            form, at: at('vocabulary'), label: 'At most so many words', placeholder: '100000',
        }),
        h(BoundNumber, {
            form, at: at('hash'), label: 'Features by hash', placeholder: '0',
            hint: 'In place of a vocabulary; 0: a vocabulary.',
        }),
        weighting === 'paths' ? h(BoundNumber, {
            form, at: at('length'), label: 'Labels of a path', placeholder: '3',
        }) : null,
        h(BoundCheck, {
            form, at: at('lowercase'), label: 'Upper and lower case are the same', byDefault: true,
        }),
    ];
}

/*   columns  of the table; nRows: its rows
 *   usual    whether the method standardises unless asked otherwise; null: it depends
 */
export function FeaturesSection({ form, columns, nRows, usual }) {
    const has = (...types) => columns.some((c) => types.includes(c.type));
    return h('div', { class: 'stack' }, [
        h(Columns, { form, columns, nRows }),
        h('div', { class: 'fields' }, [
            h(BoundChoice, {
                form, at: '/features/standardize', label: 'Scale numbers (standardise)',
                absent: usual === null ? 'as each method needs' : usual ? 'yes (default)'
                    : 'no (default)',
                options: yesNo('yes', 'no'),
                hint: 'Every column then has mean 0 and standard deviation 1, so that units do ' +
                    'not matter.',
            }),
            h(BoundChoice, {
                form, at: '/features/missing/numeric', label: 'A missing number becomes',
                absent: 'the mean', options: [
                    { value: 'most_frequent', label: 'the most frequent value' },
                    { value: 'none', label: 'an error' },
                ],
            }),
            h(BoundCheck, {
                form, at: '/features/missing/indicator', label: 'Note where a value was missing',
                hint: 'As a feature of its own.',
            }),
            has('categorical') ? h(BoundChoice, {
                form, at: '/features/missing/categorical', label: 'A missing category becomes',
                absent: 'a category of its own',
                options: [{ value: 'most_frequent', label: 'the most frequent one' }],
            }) : null,
            has('categorical') ? h(BoundChoice, {
                form, at: '/features/categorical/encoding', label: 'Categories (one-hot)',
                absent: 'as the method needs', options: [
                    { value: 'one_hot', label: 'a feature for each' },
                    { value: 'drop_first', label: 'a feature for each but the first' },
                ],
            }) : null,
            has('categorical') ? h(BoundChoice, {
                form, at: '/features/categorical/unseen', label: 'A new category counts as',
                absent: 'none of the known ones', options: [
                    { value: 'most_frequent', label: 'the most frequent one' },
                    { value: 'error', label: 'an error' },
                ],
            }) : null,
            ...(has('text') ? TextFields({ form }) : []),
            has('datetime') ? h(DateParts, { form }) : null,
            h(Bases, { form }),
        ]),
        form.error('/features') ? h('p', { class: 'error' }, form.error('/features')) : null,
    ]);
}
