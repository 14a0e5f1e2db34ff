/* The values at which the columns are fixed that are no axis. In the URL they are JSON: at.NAME. */
import { Component, h } from '../../base/preact.js';
import { plural, shortened } from '../../base/format.js';
import { setQuery } from '../../base/place.js';
import { Choice, NumberField, TextField } from '../../parts/fields.js';

const PREFIX = 'at.';
const MOST = 12; /* fields that are shown */
const MOST_LEVELS = 300; /* of a select */
const WAIT = 400; /* ms after the last key */
const MISSING = 'null';

/* Returns the values that the URL fixes. */
export function fixedValues(query) {
    const at = Object.create(null); /* a column may be named __proto__ */
    for (const [name, text] of Object.entries(query)) {
        if (name.startsWith(PREFIX)) {
            try {
                at[name.slice(PREFIX.length)] = JSON.parse(text);
            } catch {
                /* no JSON: not fixed */
            }
        }
    }
    return at;
}

/* One column. value: that of the answer or of the URL; own: whether the user has set it. */
class OtherField extends Component {
    constructor(props) {
        super(props);
        this.state = { text: null, error: null };
    }

    componentWillReceiveProps({ value }) {
        if (value !== this.props.value) {
            this.setState({ text: null, error: null });
        }
    }

    componentWillUnmount() {
        clearTimeout(this.timer);
    }

    set(value) {
        setQuery({ [PREFIX + this.props.name]: value === undefined ? '' : JSON.stringify(value) });
    }

    /* A text that is typed; '': the typical value. */
    typed(text) {
        clearTimeout(this.timer);
        const isNumber = this.props.type === 'numeric';
        const value = isNumber ? Number(text.replace(',', '.')) : text;
        const error = isNumber && !Number.isFinite(value) ? 'This is not a number.' : null;
        this.setState({ text, error });
        if (!error) {
            this.timer = setTimeout(() => this.set(text.trim() === '' ? undefined : value), WAIT);
        }
    }

    choice({ name, value, own, levels, hint }) {
        const options = levels.map((level) => ({ value: JSON.stringify(level),
            label: String(level) }));
        return h(Choice, {
            label: shortened(name), hint, value: JSON.stringify(value),
            options: [...options, { value: MISSING, label: '(missing)' }],
            onChange: (text) => this.set(JSON.parse(text)), own,
        });
    }

    render(props, { text, error }) {
        const { name, value, own, type, levels } = props;
        const hint = own ? 'set by you' : undefined;
        if (levels && levels.length <= MOST_LEVELS) {
            return this.choice({ ...props, hint });
        }
        const shown = text ?? (value === null ? ''
            : String(typeof value === 'number' ? Number(value.toPrecision(6)) : value));
        return h(type === 'numeric' ? NumberField : TextField, {
            label: shortened(name), hint, error, value: shown,
            onInput: (typed) => this.typed(typed),
        });
    }
}

function levelsOf(input) {
    return input?.type === 'boolean' ? [false, true] : input?.levels;
}

/* model; at: the values of all other columns, of the answer; query */
export class Others extends Component {
    constructor(props) {
        super(props);
        this.state = { wanted: '' };
    }

    reset() {
        const own = Object.keys(this.props.query).filter((name) => name.startsWith(PREFIX));
        setQuery(Object.fromEntries(own.map((name) => [name, ''])));
    }

    render({ model, at, query }, { wanted }) {
        const fixed = fixedValues(query);
        const inputs = new Map(model.inputs.map((input) => [input.name, input]));
        const names = Object.keys(at);
        const text = wanted.trim().toLowerCase();
        const found = names.filter((name) => name.toLowerCase().includes(text))
            .sort((a, b) => Object.hasOwn(fixed, b) - Object.hasOwn(fixed, a));
        return h('section', { class: 'card stack', 'aria-labelledby': 'others-title' }, [
            h('h2', { id: 'others-title' }, 'The other columns'),
            h('p', { class: 'minor' }, names.length ? 'They have the same value in the whole ' +
                'plane: a typical one, until you set another.'
                : 'The model has no other column: the plane shows all of it.'),
            names.length > MOST ? h(TextField, {
                label: 'Find a column', type: 'search', value: wanted,
                hint: `${plural(names.length, 'column')}, the first ${MOST} are shown`,
                onInput: (value) => this.setState({ wanted: value }),
            }) : null,
            h('div', { class: 'fields narrow' }, found.slice(0, MOST).map((name) => {
                const input = inputs.get(name);
                return h(OtherField, {
                    key: name, name, type: input?.type, levels: levelsOf(input), value: at[name],
                    own: Object.hasOwn(fixed, name),
                });
            })),
            Object.keys(fixed).length ? h('div', { class: 'buttons' }, h('button', {
                type: 'button', onClick: () => this.reset(),
            }, 'Use typical values')) : null,
        ]);
    }
}
