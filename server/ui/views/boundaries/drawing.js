/* The plane over two columns: loads what is drawn, and keeps window and points in the URL. */
import { Component, h } from '../../base/preact.js';
import { connection } from '../../base/connection.js';
import { shortened } from '../../base/format.js';
import { setQuery } from '../../base/place.js';
import { tokenChanged } from '../../base/session.js';
import { Choice } from '../../parts/fields.js';
import { Legend } from '../../parts/palette.js';
import { Plane } from '../../parts/plane.js';
import { Problem, Warnings } from '../../parts/problem.js';
import { hasMany, loadGrid, loadRows, loadSupport, stepsFor } from './answers.js';
import { DataFields, chosenDataset } from './data_fields.js';
import { Ends } from './ends.js';
import { Explanation } from './explanation.js';
import { LayerFields, chosenClass, layersOf, machinesOf, namedClass } from './layers.js';
import { Others, fixedValues } from './others.js';
import { PointTable } from './point_table.js';
import { drawnRows } from './rows.js';
import { Task } from './task.js';
import { WrongRows } from './wrong_rows.js';

const COARSE = 31;
const DETAILS = [[61, 'Coarse, fast'], [121, 'Fine'], [241, 'Finest, slow']];
const FINE = 121;
const QUICK = 0.3; /* seconds of a grid that needs no coarse one before it */
const WAIT = 250; /* ms after the last movement */
const MOST_POINTS = 20;
const MOST_LEGEND = 10;

/* Lists of numbers in the URL: "1,2;3,4". */
const readPairs = (text) => (text || '').split(';').map((pair) => pair.split(',').map(Number))
    .filter((pair) => pair.length === 2 && pair.every(Number.isFinite));
const writePairs = (pairs) => pairs.map((pair) => pair.map((v) => Number(v.toPrecision(7))).join())
    .join(';');

function readWindow(text) {
    const [x, y] = readPairs(text);
    return y && x[0] < x[1] && y[0] < y[1] ? { x, y } : null;
}

/* Whether the API does not know where the axes end. */
const lacksEnds = (error) => (error?.document?.errors || [])
    .some(({ pointer }) => /^\/[xy]\/(from|to)$/.test(pointer));

function UnknownEnds() {
    return h('p', { class: 'empty', role: 'status' }, 'The training data were deleted, and with ' +
        'them the range of these columns. Enter under “Ends of the axes” from where to where ' +
        'the plane is to go.');
}

const ends = ([from, to]) => ({ from, to });
const endsOf = (values) => [values[0], values[values.length - 1]];

/* model, query; x, y: {name, form} */
export class Drawing extends Component {
    constructor(props) {
        super(props);
        const { query } = props;
        this.state = {
            window: readWindow(query.window),
            points: readPairs(query.points).slice(0, MOST_POINTS)
                .map(([x, y]) => ({ x, y, c: -1 })),
            grid: null, whole: null, busy: true, error: null,
            data: null, dataError: null, support: undefined,
        };
        this.tasks = { grid: new Task(), data: new Task(), support: new Task() };
        this.setWindow = this.setWindow.bind(this);
    }

    componentDidMount() {
        const again = () => {
            this.loadGrid();
            this.loadData();
        };
        this.ends = [connection.listen((state) => state === 'up' && again()),
            tokenChanged.listen(again)];
        again();
        this.loadSupport();
    }

    componentDidUpdate(before, beforeState) {
        const { model, query } = this.props;
        if (beforeState.window !== this.state.window) {
            clearTimeout(this.timer);
            this.timer = setTimeout(() => this.loadGrid(), WAIT);
        } else if (this.gridText(before.query) !== this.gridText(query) ||
                this.lacksClass(before.query, query)) {
            this.loadGrid();
        }
        if (chosenDataset(model, query)?.name !== chosenDataset(model, before.query)?.name ||
                layersOf(model, query).data !== layersOf(model, before.query).data) {
            this.loadData();
        }
        this.loadSupport();
    }

    componentWillUnmount() {
        clearTimeout(this.timer);
        clearTimeout(this.writer);
        Object.values(this.tasks).forEach((task) => task.stop());
        this.ends.forEach((end) => end());
    }

    /* ---- loading ---- */

    /* The classes whose probabilities a model with many classes is asked for; undefined: none. */
    top(query) {
        const { model } = this.props;
        return hasMany(model) && layersOf(model, query).probability
            ? { chosen: namedClass(model, query) } : undefined;
    }

    /* What the grid depends on in the URL, without the class of top(). */
    gridText(query) {
        return JSON.stringify([fixedValues(query), query.detail, Boolean(this.top(query))]);
    }

    /* Whether another class was chosen whose probability the grid does not have. */
    lacksClass(before, query) {
        const [old, top] = [this.top(before)?.chosen, this.top(query)?.chosen];
        const { busy, grid } = this.state;
        return top !== undefined && top !== old && (busy || !grid?.planes?.includes(top));
    }

    loadGrid() {
        const { model, query, x, y } = this.props;
        const { window } = this.state;
        const at = fixedValues(query);
        const wanted = stepsFor(model, Number(query.detail) || FINE);
        const top = this.top(query);
        const ask = (steps, signal) => loadGrid(model, { x, y, window, at, steps, top }, signal);
        const show = (grid, busy) => this.setState(({ whole }) => ({
            grid, busy, error: null, whole: window ? whole : grid,
        }));
        this.setState({ busy: true });
        void this.tasks.grid.run(async (signal) => {
            if (!(this.seconds < QUICK)) {
                const coarse = await ask(Math.min(COARSE, wanted), signal);
                signal.aborted || show(coarse, true);
            }
            const start = performance.now();
            const grid = await ask(wanted, signal);
            this.seconds = (performance.now() - start) / 1000;
            return grid;
        }, (grid) => show(grid, false), (error) => this.setState({ error, busy: false }));
    }

    loadData() {
        const { model, query } = this.props;
        const dataset = chosenDataset(model, query);
        const drawn = dataset && layersOf(model, query).data;
        this.setState(({ data }) => ({
            data: drawn && data?.dataset.name === dataset.name ? data : null, dataError: null,
        }));
        if (!drawn) {
            this.tasks.data.stop();
            return;
        }
        void this.tasks.data.run((signal) => loadRows(model, dataset, signal),
            (data) => this.setState({ data: { ...data, dataset } }),
            (dataError) => this.setState({ dataError }));
    }

    /* Loads the support vectors when they are drawn first. */
    loadSupport() {
        const { model, query } = this.props;
        if (!layersOf(model, query).support || this.asked) {
            return;
        }
        this.asked = true;
        void this.tasks.support.run((signal) => loadSupport(model, signal),
            (support) => this.setState({ support }), () => { this.asked = false; });
    }

    /* ---- changes by the user ---- */

    write() {
        clearTimeout(this.writer);
        this.writer = setTimeout(() => {
            const { window, points } = this.state;
            setQuery({
                window: window ? writePairs([window.x, window.y]) : undefined,
                points: writePairs(points.map(({ x, y }) => [x, y])),
            });
        }, WAIT);
    }

    setWindow(window) {
        this.setState({ window });
        this.write();
    }

    setPoints(change) {
        this.setState(({ points }) => ({ points: change(points).slice(-MOST_POINTS) }));
        this.write();
    }

    /* ---- drawing ---- */

    /* Returns the axes of the plane, or null as long as they are not known. */
    axes({ x, y }, { window, grid }) {
        const shown = window || (grid && { x: endsOf(grid.x), y: endsOf(grid.y) });
        return shown && {
            x: { label: x.name, form: x.form, ...ends(shown.x) },
            y: { label: y.name, form: y.form, ...ends(shown.y) },
        };
    }

    /* The rows as they are drawn; the same array as long as nothing changes. */
    rows({ model, query, x, y }, { data, support }, layers) {
        const machine = query.machine === undefined ? undefined : Number(query.machine);
        const of = [data, support, x.name, y.name, layers.wrong, layers.support, machine];
        if (!this.drawn || of.some((v, i) => v !== this.drawn.of[i])) {
            this.drawn = { of, ...drawnRows(model, data, { x, y, wrong: layers.wrong,
                support: layers.support ? support : null, machine }) };
        }
        return this.drawn;
    }

    plane(props, state, layers, rows, lacks) {
        const { model, query } = props;
        const axes = this.axes(props, state);
        if (!axes) {
            return state.error ? null
                : h('p', { class: 'loading boundaries-wait', role: 'status' },
                    'Asking the model …');
        }
        const { points } = state;
        const is = (name) => layers[name] && lacks[name] === undefined;
        const machines = machinesOf(model, query);
        const names = [props.x, props.y].map(({ name }) => shortened(name)).join(' and ');
        return h(Plane, {
            ...axes, level: 2,
            title: `Answers over ${names}`,
            label: `Answers of ${model.name} over ${names}: a plane`,
            name: `${model.name}-boundaries`, grid: state.grid, busy: state.busy, rows, points,
            show: {
                regions: layers.regions, names: layers.regions, boundary: layers.boundary,
                disputed: is('disputed'),
                probability: is('probability') ? chosenClass(model, query, state.grid) : undefined,
                machines: is('machines') ? machines : [], margins: is('margin') ? machines : [],
            },
            onPoint: (x, y) => this.setPoints((all) => [...all, { x, y, c: -1 }]),
            onMove: (i, x, y) => this.setPoints((all) =>
                all.map((p, k) => (k === i ? { ...p, x, y } : p))),
            onRemove: (i) => this.setPoints((all) => all.filter((_, k) => k !== i)),
            onWindow: this.setWindow,
        }, model.classes.length <= MOST_LEGEND ? [h(Legend, { names: model.classes })] : []);
    }

    /* Why layers cannot be drawn. */
    lacks({ model }, { grid, support, data }) {
        const lacks = {};
        if (grid && !grid.probabilities && (!hasMany(model) || grid.planes)) {
            lacks.probability = 'the model gives no probabilities';
        }
        if (grid && !grid.scores) {
            ['margin', 'machines', 'disputed'].forEach((name) => {
                lacks[name] = 'the model has too many machines to draw them';
            });
        }
        if (support === null) {
            lacks.support = 'the model keeps no list of them';
        } else if (data && (data.dataset.name !== model.dataset?.name ||
                data.version !== model.dataset.version)) {
            lacks.support = 'they are rows of the training data, which are not drawn';
        }
        return lacks;
    }

    render(props, state) {
        const { model, query, x, y } = props;
        const { grid, error, data, dataError } = state;
        const layers = layersOf(model, query);
        const lacks = this.lacks(props, state);
        const drawn = this.rows(props, state, layers);
        const axes = this.axes(props, state);
        return h('div', { class: 'split boundaries' }, [
            h('div', { class: 'stack' }, [
                error && !lacksEnds(error) && !(error.status === 0 && grid)
                    ? h(Problem, { error, retry: () => this.loadGrid() }) : null,
                h('div', { class: 'card' }, [
                    lacksEnds(error) ? h(UnknownEnds) : null,
                    this.plane(props, state, layers, drawn.rows, lacks),
                    axes ? h(Explanation, { model, layers, lacks, grid, drawn, data, x, y }) : null,
                ]),
                grid?.unseen ? h(Warnings, { warnings: grid.unseen.map(({ column, value }) =>
                    `The training rows had no “${value}” in the column “${column}”.`) }) : null,
                h(PointTable, {
                    points: state.points, grid, axes,
                    onRemove: (i) => this.setPoints((all) => all.filter((_, k) => k !== i)),
                }),
                layers.data ? h(WrongRows, { model, data, drawn, x, y }) : null,
            ]),
            h('div', { class: 'stack' }, [
                h(LayerFields, { model, query, layers, lacks, grid }),
                layers.data ? h(DataFields, { model, query, error: dataError,
                    retry: () => this.loadData() }) : null,
                grid ? h(Others, { model, query, at: grid.at }) : null,
                h('section', { class: 'card stack', 'aria-labelledby': 'detail-title' }, [
                    h('h2', { id: 'detail-title' }, 'Detail'),
                    h(Choice, {
                        label: 'Resolution', value: query.detail || FINE,
                        options: DETAILS.map(([value, label]) => ({ value, label })),
                        onChange: (detail) => setQuery({ detail }),
                    }),
                    h(Ends, { axes, x, y, open: lacksEnds(error), onWindow: this.setWindow }),
                ]),
            ]),
        ]);
    }
}
