/* A drawing: its points, the sliders and the panels that are trained on it. The points and all
 * settings are in the URL. */
import { Component, h } from '../../base/preact.js';
import { setQuery } from '../../base/place.js';
import { Slider } from '../../parts/fields.js';
import { announce } from '../../parts/status.js';
import { Panel } from './panel.js';
import { StartPanel } from './start.js';
import { Tools } from './tools.js';
import { CLASSES, MOST, decode, encode, generate, point } from './shapes.js';

const WRITE_DELAY = 300; /* ms without a change before the URL is written */
const UNDO = 100; /* changes that are kept */
const ONE_CHANGE = 700; /* ms between two steps of one change */
const SPREAD = 0.7; /* of the brush */
const LETTERS = 'abcdefghijklmnop';

function toLog(control, v) {
    return control.log ? Math.log10(v) : v;
}

function fromLog(control, v) {
    return control.log ? 10 ** v : v;
}

/* A slider of a figure. most: replaces a `to` that is known after the training only. */
function Control({ control, value, most, onInput }) {
    const to = typeof control.to === 'number' ? control.to : most;
    const text = control.text || String;
    return h(Slider, {
        label: control.label, hint: control.hint, min: toLog(control, control.from),
        max: toLog(control, to), step: control.log ? 0.01 : control.step,
        value: toLog(control, Math.min(value, to)), text: (v) => text(fromLog(control, v)),
        onInput: (v) => onInput(fromLog(control, v)),
    });
}

/*   spec      {points, controls, panels} as in figures.js
 *   query     of the place; own: further members of it that belong to the parent
 *   starts    true: it is trained at once; otherwise after a click on “Train” or a change
 *   free      true: shapes can be generated and all points removed
 *   link      (points, request) => the place of the free drawing of them; undefined: no link
 *   below     shown below a free drawing and its method
 *   onChange  gets the query after a change
 *   onError   as for Panel
 */
export class Board extends Component {
    constructor(props) {
        super(props);
        const points = this.pointsOf(props);
        this.state = {
            points, values: this.valuesOf(props), chosen: 0, mode: 'set', undo: [],
            steps: 1, started: Boolean(props.starts),
        };
        this.editor = {
            set: (x, y) => this.set(x, y), paint: (x, y) => this.paint(x, y),
            move: (i, x, y) => this.move(i, x, y), remove: (i) => this.remove(i),
            key: (event) => this.key(event),
        };
    }

    componentWillReceiveProps(props) {
        const text = this.ownText(props.query);
        if (text !== this.ownText(this.props.query) && text !== this.written) {
            this.setState({ points: this.pointsOf(props), values: this.valuesOf(props), undo: [] });
        }
    }

    componentWillUnmount() {
        clearTimeout(this.timer);
    }

    pointsOf({ query, spec }) {
        return query.points !== undefined ? decode(query.points) : generate(spec.points);
    }

    valuesOf({ query, spec }) {
        return Object.fromEntries((spec.controls || []).map(({ name, value }) => {
            const given = Number(query[name]);
            return [name, query[name] && Number.isFinite(given) ? given : value];
        }));
    }

    /* The members of the query that this drawing has. */
    ownQuery({ points, values } = this.state) {
        const { spec } = this.props;
        const code = encode(points);
        const query = { points: code === encode(generate(spec.points)) ? undefined : code || '-' };
        for (const { name, value } of spec.controls || []) {
            const text = String(Number(values[name].toPrecision(4)));
            query[name] = values[name] === value ? undefined : text;
        }
        return query;
    }

    /* What a query says of this drawing. The rest of the query can change while the drawing is
     * not yet in the URL. */
    ownText(query) {
        const names = ['points', ...(this.props.spec.controls || []).map(({ name }) => name)];
        return JSON.stringify(names.map((name) => query[name]));
    }

    changed() {
        this.setState({ started: true });
        clearTimeout(this.timer);
        this.timer = setTimeout(() => {
            const query = this.ownQuery();
            const next = Object.fromEntries(Object.entries({ ...this.props.query, ...query })
                .filter(([, value]) => value !== undefined));
            this.written = this.ownText(next);
            setQuery(query);
            this.props.onChange?.(next);
        }, WRITE_DELAY);
    }

    /* Keeps the points for “Undo”. Changes of one kind in quick succession are one. */
    remember(kind) {
        const now = performance.now();
        const goes = kind === this.lastKind && now - this.lastAt < ONE_CHANGE;
        this.lastKind = kind;
        this.lastAt = now;
        if (!goes) {
            this.setState(({ points, undo }) => ({ undo: [...undo, points].slice(-UNDO) }));
        }
    }

    change(points) {
        this.setState({ points });
        this.changed();
    }

    replace(points, text) {
        this.remember(text);
        this.change(points);
        announce(text);
    }

    undo() {
        const { undo } = this.state;
        this.setState({ points: undo[undo.length - 1], undo: undo.slice(0, -1) });
        this.lastKind = null;
        this.changed();
    }

    add(x, y) {
        if (this.state.points.length >= MOST) {
            announce(`There are ${MOST} points, which is the most`);
            return;
        }
        this.setState(({ points, chosen }) => ({ points: [...points, point(x, y, chosen)] }));
        this.changed();
    }

    set(x, y) {
        this.remember('');
        this.lastKind = null;
        this.add(x, y);
    }

    /* Sets a point near a place on the way of the brush. */
    paint(x, y) {
        const spread = () => (Math.random() + Math.random() - 1) * SPREAD;
        this.remember('paint');
        this.add(x + spread(), y + spread());
    }

    move(i, x, y) {
        this.remember(`move ${i}`);
        this.change(this.state.points.map((p, k) => (k === i ? point(x, y, p.c) : p)));
    }

    remove(i) {
        this.remember('');
        this.lastKind = null;
        this.change(this.state.points.filter((_, k) => k !== i));
    }

    choose(c) {
        this.setState({ chosen: c });
        announce(`New points are of class ${CLASSES[c]}`);
    }

    key(event) {
        if (/^[1-9]$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) {
            this.choose(Number(event.key) - 1);
            event.preventDefault();
        }
    }

    setValue(name, value) {
        this.setState(({ values }) => ({ values: { ...values, [name]: value } }));
        this.changed();
    }

    render({ spec, free, below, link, onError, children }, state) {
        const { points, values, chosen, mode, undo, started } = state;
        const editor = {
            ...this.editor, mode,
            link: link ? (request) => link(points, request) : undefined,
        };
        const start = generate(spec.points);
        const panels = spec.panels.map((panel, i) => h(Panel, {
            key: `panel-${i}`, panel, suffix: LETTERS[i], points, values, editor, started, onError,
            onSteps: (steps) => this.setState({ steps }),
        }));
        return h('div', { class: 'stack' }, [
            h(Tools, {
                points, chosen, mode, onChoose: (c) => this.choose(c),
                onMode: (value) => this.setState({ mode: value }),
                onGenerate: free
                    ? (shape) => this.replace(generate(shape), 'Points generated') : null,
                onUndo: undo.length ? () => this.undo() : undefined,
                onReset: free ? undefined : () => this.replace(start, 'The points of the figure'),
                onClear: () => this.replace([], 'All points removed'),
            }),
            started ? null : h(StartPanel, {
                points, nModels: spec.panels.filter((panel) => panel.request).length,
                onStart: () => this.setState({ started: true }),
            }),
            spec.controls ? h('div', { class: 'card play-controls' }, spec.controls.map((control) =>
                h(Control, {
                    key: control.name, control, value: values[control.name], most: state.steps,
                    onInput: (v) => this.setValue(control.name, v),
                }))) : null,
            h('div', { class: free ? 'split' : `play-panels n${spec.panels.length}` }, free
                ? [h('div', { class: 'stack' }, panels), ...children] : panels),
            ...(free ? below : []),
        ]);
    }
}
