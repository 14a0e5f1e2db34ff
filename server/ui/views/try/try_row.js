/* A row to be filled in, the answer of the model, and why. All values are in the URL. */
import { Component, h } from '../../base/preact.js';
import { CallError, get, path, post } from '../../base/api.js';
import { connection } from '../../base/connection.js';
import { setQuery } from '../../base/place.js';
import { RequestCode } from '../../parts/code.js';
import { Problem } from '../../parts/problem.js';
import { announce } from '../../parts/status.js';
import { Along } from './along.js';
import { Answer } from './answer.js';
import { RowForm } from './row_form.js';
import { instanceOf, textOf } from './row_fields.js';
import { Waterfall } from './waterfall.js';

const PAUSE = 120; /* ms after the last change of a value */
const URL_PAUSE = 400; /* browsers limit how often the URL may change */
const ALL_CONTRIBUTIONS = 20000; /* numbers; beyond it only the largest are asked for */
const TOP = 30;

function typicalValues(fields) {
    return Object.fromEntries(fields.map(({ name, typical }) => [name, typical]));
}

/* The values of a link: those that are not typical, as JSON; null is a missing value. */
function valuesOf(fields, row) {
    const values = typicalValues(fields);
    try {
        for (const [name, value] of Object.entries(JSON.parse(row || '{}'))) {
            if (Object.hasOwn(values, name)) {
                values[name] = value === null ? '' : String(value);
            }
        }
    } catch {
        /* a broken link: typical values */
    }
    return values;
}

function rowText(fields, values) {
    const others = fields.filter(({ name, typical }) => values[name] !== typical)
        .map(({ name }) => [name, values[name] === '' ? null : values[name]]);
    return others.length > 0 ? JSON.stringify(Object.fromEntries(others)) : '';
}

/* Returns {errors by column, whether all faults belong to a column}. */
function faultsOf(error, fields) {
    const errors = {};
    const faults = error.document.errors || [];
    const names = new Map(fields.map(({ name }) =>
        [`/instances/0/${name.replace(/~/g, '~0').replace(/\//g, '~1')}`, name]));
    for (const { pointer, detail } of faults) {
        const name = names.get(pointer);
        if (name !== undefined) {
            errors[name] = detail.replace(/^instance 0, column "[^]*?": /, '');
        }
    }
    return { errors, all: faults.length > 0 && faults.length === Object.keys(errors).length };
}

export class TryRow extends Component {
    constructor(props) {
        super(props);
        this.state = {
            values: valuesOf(props.fields, props.query.row), answer: null, busy: true, errors: {},
            problem: null, truth: undefined,
        };
        this.row = props.query.row || '';
        this.baseline = 'mean';
        this.explains = true;
        this.gone = new AbortController();
    }

    componentDidMount() {
        this.end = connection.listen((state) => state === 'up' && this.predict());
        this.predict();
    }

    componentWillReceiveProps({ query, fields }) {
        if ((query.row || '') !== this.row && !this.urlTimer) {
            this.row = query.row || '';
            this.change(valuesOf(fields, query.row), undefined);
        }
    }

    componentWillUnmount() {
        this.end();
        clearTimeout(this.timer);
        clearTimeout(this.urlTimer);
        this.abort?.abort();
        this.gone.abort();
    }

    change(values, truth) {
        this.setState({ values, truth, busy: true });
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.predict(), PAUSE);
        clearTimeout(this.urlTimer);
        this.urlTimer = setTimeout(() => {
            this.urlTimer = undefined;
            this.row = rowText(this.props.fields, this.state.values);
            setQuery({ row: this.row });
        }, URL_PAUSE);
    }

    /* The query of the call: what this model can answer. */
    outputs() {
        const { model } = this.props;
        const outputs = ['label', 'probabilities', 'scores'];
        if (model.conformal) {
            outputs.push('set');
        }
        if (!this.explains) {
            return { output: outputs.join(',') };
        }
        const numbers = (model.n_features || 0) * Math.max(model.classes.length, 1);
        return {
            output: [...outputs, 'contributions'].join(','),
            baseline: this.baseline || undefined,
            top: numbers > ALL_CONTRIBUTIONS ? TOP : undefined,
        };
    }

    async predict() {
        const { where, fields } = this.props;
        this.abort?.abort();
        const abort = new AbortController();
        this.abort = abort;
        const { values } = this.state;
        const instances = [instanceOf(fields, values)];
        try {
            const answer = await this.ask(`${where}/predict`, instances, abort.signal);
            this.setState({
                answer, asked: values, busy: false, errors: {}, problem: null, refused: false,
            });
        } catch (error) {
            if (error.name === 'AbortError') {
                return;
            }
            const { errors, all } = error instanceof CallError ? faultsOf(error, fields)
                : { errors: {}, all: false };
            this.setState({ busy: false, errors, problem: all ? null : error, refused: true });
        }
    }

    /* A model of an earlier release has no mean row: then contributions are asked for without. */
    async ask(where, instances, signal) {
        for (;;) {
            try {
                return await post(where, { instances }, { query: this.outputs(), signal });
            } catch (error) {
                if (!(error instanceof CallError) || error.status !== 409 || !this.explains) {
                    throw error;
                }
                this.explains = this.baseline !== '';
                this.baseline = '';
            }
        }
    }

    async randomRow() {
        const { dataset, fields, model } = this.props;
        const query = {
            version: dataset.version, limit: 1, offset: Math.floor(Math.random() * dataset.rows),
        };
        try {
            const { signal } = this.gone;
            const page = await get(path`/v1/datasets/${dataset.name}/rows`, { query, signal });
            const [row] = page.items;
            this.change(Object.fromEntries(fields.map((field) => [field.name, textOf(field, row)])),
                model.target ? row[model.target] ?? undefined : undefined);
        } catch (error) {
            if (!this.gone.signal.aborted) {
                announce(`There is no row: ${error.message}`);
            }
        }
    }

    form() {
        const { fields, dataset } = this.props;
        const { values, errors } = this.state;
        return h('section', { class: 'card stack', 'aria-label': 'Row' }, [
            h('div', { class: 'head' }, [
                h('h2', {}, 'One row'),
                h('div', { class: 'buttons' }, [
                    h('button', {
                        type: 'button', onClick: () => this.change(typicalValues(fields)),
                    }, 'Typical values'),
                    dataset?.rows ? h('button', {
                        type: 'button', onClick: () => this.randomRow(),
                    }, 'A random row of the data') : null,
                ]),
            ]),
            h('p', { class: 'minor' }, dataset
                ? 'It begins with typical values of the training table. An empty field is a ' +
                    'missing value.'
                : 'The training table is gone or not yours to read: ranges are not known. An ' +
                    'empty field is a missing value.'),
            h(RowForm, {
                fields, values, errors,
                onInput: (name, text) => this.change({ ...this.state.values, [name]: text }),
            }),
        ]);
    }

    render({ fields, model, where, query }, state) {
        const { values, answer, asked, busy, problem, refused, truth } = state;
        return h('div', { class: 'stack' }, [
            h('div', { class: 'try' }, [
                h('div', { class: 'stack try-answer' }, [
                    problem ? h(Problem, { error: problem, retry: () => this.predict() }) : null,
                    answer && refused ? h('p', { class: 'warnings', role: 'status' },
                        'The row has no answer: see the marked fields. The answer below is for ' +
                        'the row before the last change.') : null,
                    h(Answer, { answer, model, busy, truth }),
                    answer ? h(Waterfall, { answer, model, fields, values: asked, query }) : null,
                ]),
                h('div', { class: 'stack try-row' }, this.form()),
            ]),
            answer ? h(Along, {
                model, fields, values, where: `${where}/predict`, query,
                probable: Boolean(answer.predictions[0].probabilities),
            }) : null,
            h(RequestCode, {
                title: 'The same call',
                request: {
                    method: 'POST', path: `${where}/predict`, query: this.outputs(),
                    body: { instances: [instanceOf(fields, values)] },
                },
            }),
        ]);
    }
}
