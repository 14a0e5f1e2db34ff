/* Form fields: a label, the control, a hint and an error, connected for screen readers. */
import { Component, h } from '../base/preact.js';

let last = 0;
export function newId(prefix = 'id') {
    last += 1;
    return `${prefix}-${last}`;
}

/* A label whose lines may end behind "_": names of columns have no blanks. */
function breakable(label) {
    return typeof label === 'string' && label.includes('_')
        ? label.split(/(?<=_)/).flatMap((part, i) => (i > 0 ? [h('wbr'), part] : [part])) : label;
}

/* A field around one control.
 *
 *   label, hint, error  text
 *   control             (attributes) => node; the attributes have id and those of ARIA
 */
export class Field extends Component {
    constructor(props) {
        super(props);
        this.id = newId('field');
    }

    render({ label, hint, error, control, wide }) {
        const { id } = this;
        const notes = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean);
        const attributes = {
            id,
            'aria-describedby': notes.length ? notes.join(' ') : null,
            'aria-invalid': error ? 'true' : null,
        };
        return h('div', { class: `field${wide ? ' wide' : ''}${error ? ' wrong' : ''}` }, [
            h('label', { for: id }, breakable(label)),
            control(attributes),
            hint ? h('p', { class: 'hint', id: `${id}-hint` }, hint) : null,
            error ? h('p', { class: 'error', id: `${id}-error` }, error) : null,
        ]);
    }
}

/* type: 'text', 'password', 'search'. onInput gets the text. `list`: suggestions. */
export class TextField extends Component {
    constructor(props) {
        super(props);
        this.listId = newId('list');
    }

    render({ value, onInput, list, type = 'text', placeholder, required, ...field }) {
        return h(Field, {
            ...field,
            control: (attributes) => h('span', { class: 'control' }, [
                h('input', {
                    ...attributes, type, value, placeholder, required, autocomplete: 'off',
                    spellcheck: false, list: list ? this.listId : null,
                    onInput: (event) => onInput(event.target.value),
                }),
                list ? h('datalist', { id: this.listId },
                    list.map((text) => h('option', { value: text }))) : null,
            ]),
        });
    }
}

/* A number as text, so that an unfinished one ("1e-") can be typed. onInput gets the text. */
export function NumberField({ value, onInput, placeholder, required, ...field }) {
    return h(Field, {
        ...field,
        control: (attributes) => h('input', {
            ...attributes, type: 'text', inputmode: 'decimal', value, placeholder, required,
            autocomplete: 'off', class: 'number', onInput: (event) => onInput(event.target.value),
        }),
    });
}

/* options: [{value, label, disabled}] or strings. onChange gets the value. */
export function Choice({ value, options, onChange, disabled, ...field }) {
    return h(Field, {
        ...field,
        control: (attributes) => h('select', {
            ...attributes, value, disabled, onChange: (event) => onChange(event.target.value),
        }, options.map((o) => {
            const option = typeof o === 'object' ? o : { value: o, label: o };
            return h('option', {
                value: option.value, disabled: option.disabled,
                selected: String(option.value) === String(value),
            }, option.label);
        })),
    });
}

/* A check box. onChange gets true or false. title: the whole of a label that may be cut. */
export class Check extends Component {
    constructor(props) {
        super(props);
        this.id = newId('check');
    }

    render({ label, title, hint, checked, onChange, disabled }) {
        return h('div', { class: 'check', title }, [
            h('input', {
                type: 'checkbox', id: this.id, checked, disabled,
                'aria-describedby': hint ? `${this.id}-hint` : null,
                onChange: (event) => onChange(event.target.checked),
            }),
            h('label', { for: this.id }, label),
            hint ? h('p', { class: 'hint', id: `${this.id}-hint` }, hint) : null,
        ]);
    }
}

/* Radio buttons in a row. options: [{value, label, hint}]. */
export class Radios extends Component {
    constructor(props) {
        super(props);
        this.id = newId('radios');
    }

    render({ label, value, options, onChange }) {
        return h('fieldset', { class: 'radios' }, [
            h('legend', {}, label),
            ...options.map((o, i) => h('div', { class: 'check', key: o.value }, [
                h('input', {
                    type: 'radio', name: this.id, id: `${this.id}-${i}`, value: o.value,
                    checked: o.value === value, onChange: () => onChange(o.value),
                }),
                h('label', { for: `${this.id}-${i}` }, o.label),
                o.hint ? h('p', { class: 'hint' }, o.hint) : null,
            ])),
        ]);
    }
}

/* A slider with its value beside it. onInput gets a number. text: (value) => what is shown. */
export function Slider({ value, min, max, step = 'any', onInput, text = String, ...field }) {
    return h(Field, {
        ...field,
        control: (attributes) => h('span', { class: 'slider' }, [
            h('input', {
                ...attributes, type: 'range', min, max, step, value,
                'aria-valuetext': text(value),
                onInput: (event) => onInput(Number(event.target.value)),
            }),
            h('output', { for: attributes.id }, text(value)),
        ]),
    });
}
