/* "Find the best for me": many settings of several methods are tried, and the best is trained. */
import { h } from '../../base/preact.js';
import { plural, seconds } from '../../base/format.js';
import { Check } from '../../parts/fields.js';
import { BoundChoice, BoundColumn, BoundNumber, Group } from './bound.js';
import { METRIC_OPTIONS, metricHint } from './metrics.js';

const BUDGETS = [15, 30, 60, 120, 300, 600, 1800, 3600, 14400];

/* Parameters of which a search knows the usual range. */
const RANGES = ['lambda', 'C', 'k', 'smoothing', 'variance_floor', 'shrinkage'];

/* Candidates of a method that the automatic list does not have. */
function candidatesOf(method) {
    const params = {};
    for (const { name } of method.parameters) {
        if (RANGES.includes(name)) {
            params[name] = 'auto';
        }
        if (name === 'calibrate' && !method.probabilities) {
            params[name] = 'platt';
        }
    }
    return [Object.keys(params).length ? { algorithm: method.id, params }
        : { algorithm: method.id }];
}

/* The methods as check boxes: those of the automatic list are known from the dry run. */
function Methods({ form, methods, proposed }) {
    const candidates = form.get('/search/candidates');
    const list = Array.isArray(candidates) ? candidates : proposed || [];
    const used = new Set(list.map((c) => c.algorithm));
    const set = (id, checked) => {
        const rest = list.filter((c) => c.algorithm !== id);
        const own = (proposed || []).filter((c) => c.algorithm === id);
        const added = own.length ? own : candidatesOf(methods.find((m) => m.id === id));
        const next = checked ? [...rest, ...added] : rest;
        form.set('/search/candidates', next);
    };
    return h('div', { class: 'stack' }, [
        h('p', { class: 'minor' }, candidates === 'auto'
            ? 'The ticked methods suit this table.'
            : 'Only the ticked methods are tried, with the settings of the list under “As JSON”.'),
        h('div', { class: 'fields' }, methods.filter((m) => m.needs_target).map((m) => h(Check, {
            key: m.id, label: m.title, checked: used.has(m.id),
            disabled: !Array.isArray(candidates) && !proposed,
            onChange: (checked) => set(m.id, checked),
        }))),
        candidates === 'auto' ? null : h('div', { class: 'buttons' }, h('button', {
            type: 'button', onClick: () => form.set('/search/candidates', 'auto'),
        }, 'Try what suits the table')),
    ]);
}

function comparison(search) {
    const how = search.column ? `by the column ${search.column}`
        : search.folds === 'leave_one_out' ? 'each row by all others'
            : search.folds ? `${search.folds} folds` : 'folds as usual';
    return [
        how, search.repeats > 1 ? `${search.repeats} times` : null,
        search.group ? `grouped by ${search.group}` : null,
        search.order ? `in the order of ${search.order}` : null,
        search.rule === 'one_standard_error' ? 'the simplest good one wins' : 'the best wins',
        search.combine ? `combines up to ${search.combine}` : null,
        search.strategy && search.strategy !== 'auto' ? search.strategy : null,
    ].filter(Boolean).join(', ');
}

/*   methods   the catalogue
 *   columns   of the table
 *   proposed  the automatic candidates; null: not known yet
 */
export function SearchSection({ form, methods, columns, proposed }) {
    const search = form.get('/search');
    const candidates = search.candidates;
    const ids = [...new Set((Array.isArray(candidates) ? candidates : proposed || [])
        .map((c) => c.algorithm))];
    const errorOf = (...names) => names.map((name) => form.error(`/search/${name}`))
        .filter(Boolean).join('; ');
    return h('div', { class: 'stack' }, [
        h('p', {}, 'Discern tries several methods with many settings, compares them on rows that ' +
            'they have not seen, and trains the best one on all rows for training.'),
        h('div', { class: 'fields broad' }, [
            h(BoundChoice, {
                form, at: '/search/seconds', label: 'Time for trying',
                absent: candidates === 'auto' ? '10 min 0 s (default)' : 'no limit',
                options: BUDGETS.map((s) => ({ value: s, label: seconds(s) })),
                hint: 'A short time has seen every method, too. You can stop the search ' +
                    'at any time and keep the best so far.',
            }),
            h(BoundChoice, {
                form, at: '/search/metric', label: 'What “best” means',
                absent: METRIC_OPTIONS[0].label, options: METRIC_OPTIONS.slice(1),
                hint: metricHint(search.metric ?? METRIC_OPTIONS[0].value),
            }),
        ]),
        h(Group, {
            title: 'Methods to try', error: errorOf('candidates'),
            summary: candidates === 'auto' ? 'what suits the table'
                : `${plural(ids.length, 'method')}: ${ids.join(', ')}`,
            show: () => h('div', { class: 'stack' }, [
                h(Methods, { form, methods, proposed }),
                form.error('/search/candidates')
                    ? h('p', { class: 'error' }, form.error('/search/candidates')) : null,
            ]),
        }),
        h(Group, {
            title: 'How they are compared',
            error: errorOf('folds', 'repeats', 'column', 'group', 'order', 'rule', 'combine',
                'strategy', 'trials'),
            summary: comparison(search),
            show: () => h(Comparing, { form, columns, search }),
        }),
    ]);
}

function Comparing({ form, columns, search }) {
    const ordered = columns.filter((c) => ['numeric', 'datetime'].includes(c.type));
    return h('div', { class: 'fields' }, [
        h(BoundChoice, {
            form, at: '/search/folds', label: 'Folds', absent: 'as usual (5 or 10)',
            options: [2, 3, 5, 10, 20, { value: 'leave_one_out', label: 'each row by all others' }],
            hint: 'The rows are divided into so many parts; each is predicted by a fit to the ' +
                'others. More parts take longer and tell more.',
        }),
        h(BoundNumber, {
            form, at: '/search/repeats', label: 'Repeats', placeholder: '1',
            hint: 'The comparison is repeated with other parts, for a surer figure.',
        }),
        h(BoundChoice, {
            form, at: '/search/rule', label: 'Which one wins', absent: 'the best',
            options: [{
                value: 'one_standard_error', label: 'the simplest that is almost as good',
            }],
            hint: 'Almost: within one standard error, the doubt of the figure.',
        }),
        h(BoundChoice, {
            form, at: '/search/combine', label: 'Combine the best', absent: 'no',
            options: [2, 3, 4, 5].map((n) => ({ value: n, label: `up to ${n} methods` })),
            hint: 'Their probabilities are multiplied. It wins only if it is clearly better.',
        }),
        h(BoundChoice, {
            form, at: '/search/strategy', label: 'Strategy', absent: 'auto (default)', options: [
                { value: 'grid', label: 'grid: all settings' },
                { value: 'random', label: 'random: some of them' },
                { value: 'halving', label: 'halving: first few rows, then the best on more' },
            ],
            hint: 'auto: halving for many settings and at least 10,000 rows, otherwise all.',
        }),
        search.strategy === 'random' || search.trials !== undefined ? h(BoundNumber, {
            form, at: '/search/trials', label: 'Trials', placeholder: '60',
            hint: 'How many settings are drawn.',
        }) : null,
        h(BoundColumn, {
            form, at: '/search/group', label: 'Keep together in a fold', columns,
            hint: 'Rows with the same value of this column (a customer, a device) stay in one ' +
                'part. The figures are too good otherwise.',
        }),
        h(BoundColumn, {
            form, at: '/search/order', label: 'Order in time', columns: ordered,
            hint: 'Each part is predicted by a fit to the earlier ones.',
        }),
        h(BoundColumn, {
            form, at: '/search/column', label: 'Column of marks', columns,
            hint: 'In place of folds: true, 1 or train for rows to learn from; false, 0 or test ' +
                'for rows to compare on.',
        }),
    ]);
}
