/* The form of a row. With many columns: the most important ones, and a search for the others. */
import { Component, h } from '../../base/preact.js';
import { count, plural } from '../../base/format.js';
import { Choice, Field, TextField } from '../../parts/fields.js';
import { faultOf, numberOf, rangeText, rounded } from './row_fields.js';

const MOST_FIELDS = 30;
const MOST_OPTIONS = 200;
const MISSING = '(missing)';
const SLIDER_DIGITS = 4;

function NumberAndSlider({ field, value, error, onInput }) {
    const { min, max, whole, name } = field;
    const slides = max > min;
    const now = numberOf(field, value);
    return h(Field, {
        label: name, hint: rangeText(field), error: faultOf(field, value) || error,
        control: (attributes) => h('span', { class: 'number-slider' }, [
            h('input', {
                ...attributes, type: 'text', inputmode: 'decimal', class: 'number', value,
                placeholder: 'missing', autocomplete: 'off',
                onInput: (event) => onInput(event.target.value.trim()),
            }),
            slides ? h('input', {
                type: 'range', min, max, step: whole ? 1 : 'any', 'aria-label': `${name}, slider`,
                value: Number.isNaN(now) ? (min + max) / 2 : now,
                'aria-valuetext': value === '' ? 'missing' : value,
                onInput: (event) =>
                    onInput(String(rounded(field, Number(event.target.value), SLIDER_DIGITS))),
            }) : null,
        ]),
    });
}

/* The field of one column. */
function RowField({ field, value, error, onInput }) {
    const shared = { label: field.name, hint: rangeText(field), error, value };
    if (field.kind === 'number') {
        return h(NumberAndSlider, { field, value, error, onInput });
    }
    if (field.kind === 'category' && field.levels.length <= MOST_OPTIONS) {
        const levels = field.levels.includes(value) || value === '' ? field.levels
            : [value, ...field.levels];
        return h(Choice, {
            ...shared, onChange: onInput,
            options: [...levels.map((level) => ({ value: level, label: level })),
                { value: '', label: MISSING }],
        });
    }
    if (field.kind === 'category') {
        return h(TextField, {
            ...shared, onInput, list: field.levels.slice(0, MOST_OPTIONS), placeholder: 'missing',
            hint: `one of ${plural(field.levels.length, 'category', 'categories')}`,
        });
    }
    if (field.kind === 'text' || field.kind === 'sparse') {
        return h(Field, {
            ...shared, wide: true,
            control: (attributes) => h('textarea', {
                ...attributes, value, placeholder: 'missing', rows: 3,
                onInput: (event) => onInput(event.target.value),
            }),
        });
    }
    return h(TextField, { ...shared, onInput, placeholder: 'missing' });
}

/*   fields   of fieldsOf(), the most important first
 *   values   texts by column; errors: texts by column
 *   onInput  (name, text)
 */
export class RowForm extends Component {
    constructor(props) {
        super(props);
        this.state = { search: '', all: false };
    }

    render({ fields, values, errors, onInput }, { search, all }) {
        const many = fields.length > MOST_FIELDS;
        const word = search.trim().toLowerCase();
        const found = word === '' ? fields
            : fields.filter(({ name }) => name.toLowerCase().includes(word));
        const shown = all ? found : found.filter((field, i) =>
            i < MOST_FIELDS || errors[field.name]);
        const hidden = found.length - shown.length;
        return h('div', { class: 'stack' }, [
            many ? h(TextField, {
                label: `Search ${count(fields.length)} columns`, type: 'search', value: search,
                hint: word ? `${plural(found.length, 'column')} found`
                    : 'The most important columns come first.',
                onInput: (text) => this.setState({ search: text, all: false }),
            }) : null,
            h('div', { class: 'fields row-form' }, shown.map((field) => h(RowField, {
                key: field.name, field, value: values[field.name] ?? '',
                error: errors[field.name], onInput: (text) => onInput(field.name, text),
            }))),
            hidden > 0 ? h('p', {}, h('button', {
                type: 'button', onClick: () => this.setState({ all: true }),
            }, `Show ${plural(hidden, 'more column')}`)) : null,
        ]);
    }
}
