/* Fields that show and change one member of the request. `form` has the request and its problems:
 * get(pointer), set(pointer, value), error(pointer). */
import { Component, h } from '../../base/preact.js';
import { Check, Choice, NumberField, TextField } from '../../parts/fields.js';
import { textOf, valueOf } from './request.js';

/* A number, or a word or JSON in its place. An unfinished text stays as it is typed. */
export class BoundNumber extends Component {
    constructor(props) {
        super(props);
        this.state = { text: textOf(props.form.get(props.at)) };
    }

    componentWillReceiveProps({ form, at }) {
        const value = form.get(at);
        if (JSON.stringify(valueOf(this.state.text)) !== JSON.stringify(value)) {
            this.setState({ text: textOf(value) });
        }
    }

    render({ form, at, list, ...field }, { text }) {
        return h(list ? TextField : NumberField, {
            ...field, list, value: text, error: form.error(at),
            onInput: (typed) => {
                this.setState({ text: typed });
                form.set(at, valueOf(typed));
            },
        });
    }
}

/* One of some values. options: [{value, label}] or strings; `absent`: the label of no value. */
export function BoundChoice({ form, at, options, absent, ...field }) {
    const value = form.get(at);
    const all = options.map((o) => (typeof o === 'object' ? o : { value: o, label: String(o) }));
    const known = value === undefined || all.some((o) => o.value === value);
    return h(Choice, {
        ...field, error: form.error(at), value: value === undefined ? '' : textOf(value),
        options: [
            ...(absent === undefined ? [] : [{ value: '', label: absent }]),
            ...all.map((o) => ({ ...o, value: textOf(o.value) })),
            ...(known ? [] : [{ value: textOf(value), label: textOf(value) }]),
        ],
        onChange: (text) => {
            const option = all.find((o) => textOf(o.value) === text);
            form.set(at, text === '' ? undefined : option ? option.value : valueOf(text));
        },
    });
}

/* Yes or no. `byDefault`: what absence means. */
export function BoundCheck({ form, at, byDefault = false, ...field }) {
    const value = form.get(at);
    const error = form.error(at);
    return h(Check, {
        ...field, checked: typeof value === 'boolean' ? value : byDefault,
        hint: error || field.hint,
        onChange: (checked) => form.set(at, checked === byDefault ? undefined : checked),
    });
}

const MOST_OPTIONS = 600;

/* A column of the table. columns: those that fit. */
export function BoundColumn({ form, at, columns, absent = 'none', ...field }) {
    if (columns.length <= MOST_OPTIONS) {
        return h(BoundChoice, { ...field, form, at, absent, options: columns.map((c) => c.name) });
    }
    const value = form.get(at);
    const typed = String(value ?? '').toLowerCase();
    return h(TextField, {
        ...field, value: value ?? '', placeholder: absent, error: form.error(at),
        list: columns.filter((c) => c.name.toLowerCase().includes(typed)).slice(0, 50)
            .map((c) => c.name),
        onInput: (text) => form.set(at, text === '' ? undefined : text),
    });
}

/* A part of the form that is closed at first. `summary`: what is chosen, in one line. It opens
 * when there is a problem inside. */
export class Group extends Component {
    constructor(props) {
        super(props);
        this.state = { open: Boolean(props.open || props.error) };
    }

    componentWillReceiveProps({ error }) {
        if (error && !this.props.error) {
            this.setState({ open: true });
        }
    }

    render({ title, summary, error, show }, { open }) {
        return h('details', {
            class: `group${error ? ' faulty' : ''}`, open,
            onToggle: (event) => this.setState({ open: event.target.open }),
        }, [
            h('summary', {}, [
                h('strong', {}, title),
                ' ',
                h('span', { class: 'minor' }, error ? 'needs a correction' : summary),
            ]),
            open ? h('div', { class: 'group-body' }, show()) : null,
        ]);
    }
}
