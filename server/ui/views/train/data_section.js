/* What to learn from: the dataset and its version, the target, and the name of the model. */
import { h } from '../../base/preact.js';
import { count, plural, time } from '../../base/format.js';
import { link } from '../../base/place.js';
import { Check, Choice, TextField } from '../../parts/fields.js';
import { Problem } from '../../parts/problem.js';
import { reference } from './request.js';
import { asTarget, noTargetText, proposeModel, proposeTarget } from './target.js';

const MOST_OPTIONS = 600;

function label(column) {
    return `${column.name} – ${asTarget(column).text}`;
}

function Target({ form, columns, methods, reason, failed, onTarget }) {
    const value = form.get('/target') ?? '';
    const column = columns.find((c) => c.name === value);
    const error = form.error('/target');
    const hint = reason ? `Proposed ${reason}. Choose another column if you want to predict that.`
        : column ? `The target: ${asTarget(column).text}.`
            : !columns.length || proposeTarget(columns) ? 'The target: what each row is.'
                : noTargetText(columns, methods);
    if (columns.length > MOST_OPTIONS) {
        const typed = value.toLowerCase();
        return h(TextField, {
            label: 'Column to predict', value, hint, error, onInput: onTarget,
            list: columns.filter((c) => c.name.toLowerCase().includes(typed)).slice(0, 50)
                .map((c) => c.name),
        });
    }
    return h(Choice, {
        label: 'Column to predict', value, hint, error, onChange: onTarget,
        options: [
            {
                value: '',
                label: columns.length || failed ? 'choose a column' : 'Loading the columns …',
            },
            ...columns.map((c) => ({
                value: c.name, label: label(c), disabled: !asTarget(c).can && c.name !== value,
            })),
            ...(value && !column ? [{ value, label: value }] : []),
        ],
    });
}

function AsClasses({ form, column }) {
    const given = form.get('/target_as') === 'classes';
    if (!given && !(column && asTarget(column).asked)) {
        return null;
    }
    return h(Check, {
        label: `Use each of the ${column ? count(column.distinct) : ''} values as a class`,
        checked: given,
        hint: 'This column looks like a measured quantity. Discern learns classes, not ' +
            'quantities: usually a column with ranges (low, high) is better.',
        onChange: (checked) => form.set('/target_as', checked ? 'classes' : undefined),
    });
}

/*   datasets  of the list, newest first
 *   dataset   the chosen one, with columns and versions; null: not loaded
 *   methods   of the catalogue
 *   reason    why the target was proposed; '': it was chosen
 */
export function DataSection(props) {
    const { form, datasets, models, dataset, error, reason, needsTarget } = props;
    const { name, version } = reference(form.get('/dataset'));
    const known = datasets.some((d) => d.name === name);
    const mine = dataset && dataset.name === name ? dataset : null;
    const columns = mine ? mine.columns : [];
    const model = form.get('/model') ?? '';
    const exists = models.includes(model);
    return h('section', { class: 'card stack', 'aria-labelledby': 'train-data' }, [
        h('h2', { id: 'train-data' }, 'What to learn'),
        h('div', { class: 'fields broad' }, [
            h(Choice, {
                label: 'Data', value: name, onChange: props.onDataset,
                error: form.error('/dataset'),
                options: [
                    ...(known ? [] : [{ value: name, label: name || 'choose a dataset' }]),
                    ...datasets.map((d) => ({
                        value: d.name, label: `${d.name} – ${plural(d.rows, 'row')}`,
                    })),
                ],
            }),
            h(Choice, {
                label: 'Version of the data', value: version,
                options: [
                    { value: '', label: mine && !version ? `newest (${mine.version})` : 'newest' },
                    ...(mine ? mine.versions.map((v) => ({
                        value: String(v.version),
                        label: `${v.version} – ${plural(v.rows, 'row')}, ${time(v.created_at)}`,
                    })) : version ? [version] : []),
                ],
                onChange: (chosen) => props.onDataset(chosen ? `${name}@${chosen}` : name),
            }),
            needsTarget || form.get('/target') !== undefined
                ? h(Target, {
                    form, columns, methods: props.methods, reason,
                    failed: Boolean(error) || !name,
                    onTarget: props.onTarget,
                })
                : h('p', { class: 'minor' }, 'This method needs no target: it learns what most ' +
                    'rows are like.'),
            h(TextField, {
                label: 'Name of the model', value: model, list: models,
                error: form.error('/model'),
                hint: exists ? 'This model exists: it gets a new version.'
                    : `${model === proposeModel(name, form.get('/target')) ? 'Proposed. ' : ''}` +
                        'You find the model by this name.',
                onInput: (text) => form.set('/model', text === '' ? undefined : text),
            }),
        ]),
        h(AsClasses, { form, column: columns.find((c) => c.name === form.get('/target')) }),
        error ? h(Problem, { error, retry: props.onRetry }) : null,
        h('p', { class: 'minor' }, mine ? [
            `${plural(mine.rows, 'row')}, ${plural(columns.length, 'column')}. `,
            h('a', { href: link(['data', name]) }, 'Look at the data'),
        ] : name && !error ? 'Loading the columns …' : ''),
    ]);
}
