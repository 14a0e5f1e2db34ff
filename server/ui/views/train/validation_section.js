/* How the new model is tested: on rows that it has not seen. */
import { h } from '../../base/preact.js';
import { percent, plural } from '../../base/format.js';
import { Radios } from '../../parts/fields.js';
import { BoundCheck, BoundChoice, BoundColumn, BoundNumber } from './bound.js';

const SHARES = [0.1, 0.2, 0.25, 0.3, 0.4, 0.5];

/* The kind of a validation. */
function kindOf(validation) {
    return ['holdout', 'folds', 'dataset', 'column'].find((k) => validation?.[k] !== undefined &&
        validation[k] !== null) || 'none';
}

export function validationText(validation) {
    const kind = kindOf(validation);
    const kept = [
        validation?.repeats > 1 ? `${validation.repeats} times` : null,
        validation?.group ? `grouped by ${validation.group}` : null,
        validation?.order ? `in the order of ${validation.order}` : null,
        validation?.curves ? 'with curves' : null,
    ].filter(Boolean);
    const base = {
        none: 'not at all',
        holdout: `${typeof validation?.holdout === 'number' ? percent(validation.holdout, 0)
            : '?'} of the rows are kept aside`,
        folds: validation?.folds === 'leave_one_out' ? 'each row by all others'
            : `${validation?.folds} folds`,
        dataset: `on the dataset ${validation?.dataset}`,
        column: `rows marked by ${validation?.column}`,
    }[kind];
    return [base, ...kept].join(', ');
}

/*   columns   of the table
 *   datasets  names, newest first
 */
export function ValidationSection({ form, columns, datasets }) {
    const validation = form.get('/validation');
    const kind = kindOf(validation);
    const search = form.get('/search') !== undefined;
    const starts = {
        none: undefined, holdout: { holdout: 0.2 }, folds: { folds: 5 },
        dataset: { dataset: datasets.find((d) => d !== form.get('/dataset')) || '' },
        column: { column: columns[0]?.name ?? '' },
    };
    const choose = (name) => form.set('/validation', starts[name] && validation?.curves
        ? { ...starts[name], curves: true } : starts[name]);
    const options = [
        { value: 'holdout', label: 'Keep some rows aside' },
        ...(search && kind !== 'folds' ? []
            : [{ value: 'folds', label: 'Folds: predict each row by a fit to others' }]),
        { value: 'dataset', label: 'On another dataset' },
        { value: 'column', label: 'By a column that marks the rows' },
        { value: 'none', label: 'No test' },
    ];
    const fields = {
        none: [],
        holdout: [h(BoundChoice, {
            form, at: '/validation/holdout', label: 'Rows kept aside',
            options: SHARES.map((s) => ({ value: s, label: percent(s, 0) })),
            hint: 'Drawn at random; each class keeps its share.',
        })],
        folds: [h(BoundChoice, {
            form, at: '/validation/folds', label: 'Number of folds',
            options: [2, 3, 5, 10, 20, { value: 'leave_one_out', label: 'each row by all others' }],
            hint: 'So many further fits are made, each without one part of the rows. The model ' +
                'itself learns from all rows.',
        }), h(BoundNumber, {
            form, at: '/validation/repeats', label: 'Repeat the folds', placeholder: '1',
            hint: 'With other parts each time, for a surer figure.',
        })],
        dataset: [h(BoundChoice, {
            form, at: '/validation/dataset', label: 'Dataset for the test', options: datasets,
            hint: 'It has the same columns, also the target.',
        })],
        column: [h(BoundColumn, {
            form, at: '/validation/column', label: 'Column with the marks', columns,
            absent: 'choose a column',
            hint: 'true, 1 or train: rows to learn from; false, 0 or test: rows for the test.',
        })],
    }[kind];
    const split = ['holdout', 'folds'].includes(kind);
    return h('div', { class: 'stack' }, [
        h(Radios, { label: 'Test', value: kind, options, onChange: choose }),
        h('div', { class: 'fields' }, [
            ...fields,
            split ? h(BoundColumn, {
                form, at: '/validation/group', label: 'Keep together in the test', columns,
                hint: 'Rows with the same value of this column (a customer, a device) are on one ' +
                    'side. The figures are too good otherwise.',
            }) : null,
            split ? h(BoundColumn, {
                form, at: '/validation/order', label: 'Test on the latest by',
                columns: columns.filter((c) => ['numeric', 'datetime'].includes(c.type)),
                hint: 'A date or a number. The model is tested on what comes later.',
            }) : null,
            kind === 'none' ? h('p', { class: 'minor' }, 'Nothing will say how good the model ' +
                'is on new rows.') : h(BoundCheck, {
                form, at: '/validation/curves', label: 'With curves',
                hint: 'ROC, precision and recall, calibration: the plots of the model.',
            }),
        ]),
        form.error('/validation') ? h('p', { class: 'error' }, form.error('/validation')) : null,
    ]);
}

/* Learning curve: how good the model is with fewer rows. */
export function LearningCurve({ form }) {
    const value = form.get('/learning_curve');
    return h(BoundNumber, {
        form, at: '/learning_curve', label: 'Learning curve', placeholder: 'none', wide: true,
        list: ['[0.1, 0.2, 0.5, 1]'],
        hint: value === undefined ? 'Shares of the rows, such as [0.1, 0.2, 0.5, 1]: the method ' +
            'is also trained with these, which shows whether more rows would help.'
            : Array.isArray(value) ? `${plural(value.length, 'further training')} for each fit.`
                : 'A list of numbers in brackets.',
    });
}
