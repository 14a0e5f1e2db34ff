/* The tab "Importance": how much worse the model gets when a column is shuffled. */
import { Component, h } from '../../base/preact.js';
import { post } from '../../base/api.js';
import { count } from '../../base/format.js';
import { setQuery } from '../../base/place.js';
import { RequestCode } from '../../parts/code.js';
import { Choice, NumberField } from '../../parts/fields.js';
import { Loaded } from '../../parts/loaded.js';
import { METRICS, metricLabel, metricText, metricValue } from '../../parts/metrics.js';
import { Warnings } from '../../parts/problem.js';
import { ScopedButton } from '../../parts/scoped.js';
import { Bars } from './bars.js';
import { DatasetChoice } from '../../parts/dataset_choice.js';
import { versionPath } from '../../base/version_path.js';

const MOST_REPEATS = 100;

/* The metrics that the model has, which are numbers of one level. */
function metricsOf(model) {
    const metrics = model.metrics?.validation || model.metrics?.train;
    return Object.keys(METRICS).filter((name) => !name.includes('.') && name !== 'ambiguous' &&
        typeof metricValue(metrics, name) === 'number');
}

function whole(text) {
    const n = Number(text);
    return Number.isInteger(n) && n >= 1 && n <= MOST_REPEATS ? n : null;
}

/* The answer as bars. */
class Columns extends Component {
    items() {
        if (this.of !== this.props.answer) {
            this.of = this.props.answer;
            this.list = this.of.columns.filter((c) => c.mean !== null).map((c) => ({
                name: c.column, value: c.mean, low: c.mean - c.std, high: c.mean + c.std,
            }));
        }
        return this.list;
    }

    render({ answer, model }) {
        const { metric, base, repeats } = answer;
        const items = this.items();
        return h('section', { class: 'card stack', 'aria-label': 'Columns' }, [
            h(Warnings, { warnings: answer.warnings }),
            h(Bars, {
                title: `What shuffling a column costs: ${metricLabel(metric)}`, items,
                name: `${model.name}-importance`,
                label: METRICS[metric]?.low ? 'Rise (worse)' : 'Fall (worse)',
                format: METRICS[metric]?.share ? '~%' : undefined,
            }, [
                h('p', { role: 'status' }, `${metricLabel(metric)} of the unchanged rows: ${
                    metricText(metric, base)}. Bars to the right: the model needs the column. ` +
                    'About 0: it does without. The thin lines are the standard deviation over ' +
                    `${count(repeats)} ${repeats === 1 ? 'shuffle' : 'shuffles'}.`),
            ]),
            h('p', { class: 'minor' }, 'Columns that say the same stand in for one another: each ' +
                'of them may look unimportant although both together are needed.'),
        ]);
    }
}

export class Importance extends Component {
    constructor(props) {
        super(props);
        const { query } = props;
        this.state = {
            data: query.data || props.model.dataset?.name || '', metric: query.metric || 'accuracy',
            repeats: query.repeats || '5',
        };
    }

    form({ model }, { data, metric, repeats }) {
        const submit = (event) => {
            event.preventDefault();
            setQuery({ data, metric, repeats });
        };
        const ready = data !== '' && whole(repeats) !== null;
        return h('form', { class: 'stack', onSubmit: submit }, [
            h('div', { class: 'fields' }, [
                h(DatasetChoice, {
                    value: data, preferred: model.dataset?.name,
                    onChange: (value) => this.setState({ data: value }),
                }),
                h(Choice, {
                    label: 'By the metric', value: metric,
                    options: metricsOf(model).map((name) => ({ value: name,
                        label: metricLabel(name) })),
                    onChange: (value) => this.setState({ metric: value }),
                }),
                h(NumberField, {
                    label: 'Shuffles of each column', value: repeats,
                    hint: 'More are surer and take longer',
                    error: whole(repeats) === null ? `A whole number from 1 to ${MOST_REPEATS}`
                        : null,
                    onInput: (text) => this.setState({ repeats: text }),
                }),
            ]),
            h('div', { class: 'buttons' }, h(ScopedButton, {
                scope: ['predict', 'read'], names: [data], type: 'submit', class: 'primary',
                disabled: !ready }, 'Measure')),
        ]);
    }

    render({ model, query }, state) {
        const repeats = whole(query.repeats || '');
        const asked = query.data && query.metric && repeats !== null;
        const request = asked ? {
            method: 'POST', path: `${versionPath(model)}/importance`,
            body: { dataset: query.data, metric: query.metric, repeats },
        } : null;
        return h('div', { class: 'stack' }, [
            h('section', { class: 'card stack', 'aria-labelledby': 'importance-title' }, [
                h('h2', { id: 'importance-title' }, 'Which columns matter'),
                h('p', {}, 'The values of one column are put into random order, so that they say ' +
                    'nothing any more. The more the model suffers, the more it needs the column.'),
                this.form({ model }, state),
            ]),
            asked ? h(Loaded, {
                of: [model.name, model.version, request.body],
                what: `the importance of ${model.inputs.length} columns, which can take long`,
                load: (signal) => post(request.path, request.body, { signal }),
                show: (answer) => h(Columns, { answer, model }),
            }) : null,
            request ? h(RequestCode, { request }) : null,
        ]);
    }
}
