/* The ends of the axes as fields: an exact window. */
import { Component, h } from '../../base/preact.js';
import { parseDate, writeDate } from '../../base/dates.js';
import { shortened } from '../../base/format.js';
import { NumberField, TextField } from '../../parts/fields.js';

function textOf(axis, v) {
    return axis.form ? writeDate(v, axis.form) : String(Number(v.toPrecision(6)));
}

const NAMES = ['x.from', 'x.to', 'y.from', 'y.to'];

/* axes: {x, y} of the plane, or null; x, y: {name, form}; open: at first; onWindow as for Plane */
export class Ends extends Component {
    constructor(props) {
        super(props);
        this.state = { texts: {}, error: null };
    }

    value(name) {
        const [axis, end] = name.split('.');
        const { axes } = this.props;
        const { texts } = this.state;
        return texts[name] ?? (axes ? textOf(axes[axis], axes[axis][end]) : '');
    }

    number(name) {
        const { form } = this.props[name[0]];
        const text = this.value(name);
        return form ? parseDate(text, form) : text.trim() === '' ? NaN
            : Number(text.replace(',', '.').replace('−', '-'));
    }

    apply(event) {
        event.preventDefault();
        const { x, y, onWindow } = this.props;
        const [a, b, c, d] = NAMES.map((name) => this.number(name));
        const wrong = !(a < b) ? x : !(c < d) ? y : null;
        if (wrong) {
            this.setState({ error: `“${wrong.name}” needs two ${wrong.form
                ? `dates as ${wrong.form}` : 'numbers'}, the first below the second.` });
            return;
        }
        this.setState({ texts: {}, error: null });
        onWindow({ x: [a, b], y: [c, d] });
    }

    render({ x, y, open }, { texts, error }) {
        const field = (name, label, axis) => h(axis.form ? TextField : NumberField, {
            label: `${shortened(axis.name)} ${label}`, value: this.value(name), hint: axis.form,
            onInput: (text) => this.setState({ texts: { ...texts, [name]: text } }),
        });
        return h('details', { open }, [
            h('summary', {}, 'Ends of the axes'),
            h('form', { class: 'stack more', onSubmit: (event) => this.apply(event) }, [
                h('div', { class: 'fields narrow' }, [
                    field('x.from', 'from', x), field('x.to', 'to', x),
                    field('y.from', 'from', y), field('y.to', 'to', y),
                ]),
                error ? h('p', { class: 'error', role: 'alert' }, error) : null,
                h('div', { class: 'buttons' }, h('button', { type: 'submit' }, 'Show this part')),
            ]),
        ]);
    }
}
