/* The tab "Threshold and cost": how probabilities become a label, and what another rule changes. */
import { Component, h } from '../../base/preact.js';
import { call } from '../../base/api.js';
import { changed } from '../../base/changes.js';
import { number, percent, plural } from '../../base/format.js';
import { link, setQuery } from '../../base/place.js';
import { Loaded } from '../../parts/loaded.js';
import { ScopedButton } from '../../parts/scoped.js';
import { announce } from '../../parts/status.js';
import { CostRule } from './cost_rule.js';
import { DatasetChoice } from '../../parts/dataset_choice.js';
import { Fact } from '../../parts/fact.js';
import { loadHeldOut } from './held_out.js';
import { ruleText } from './rule_text.js';
import { Threshold } from './threshold.js';
import { versionPath } from '../../base/version_path.js';
import { ChangeProblem } from './versions.js';

/* Sets the rule of a version, or removes it (null). Returns the new ETag. */
async function setRule(model, rule, etag) {
    const response = await call(rule ? 'PUT' : 'DELETE',
        `${versionPath(model)}/decision`,
        { body: rule || undefined, headers: { 'If-Match': etag } });
    changed('models');
    return response.headers.get('ETag');
}

/* The stored rule: what it is, what it does on held-out rows, removing it. */
function Stored({ model, remove }) {
    const decision = model.decision_rule;
    if (!decision) {
        return h('p', {}, hasProbabilities(model)
            ? 'No rule is stored: the label is the most probable class. That is right if all ' +
                'errors cost the same.'
            : 'The label is the class with the greatest score.');
    }
    const held = decision.held_out;
    const figures = held ? [
        held.accuracy !== undefined && held.accuracy !== null
            ? ['Accuracy', percent(held.accuracy)] : null,
        held.precision !== undefined ? ['Precision', percent(held.precision)] : null,
        held.recall !== undefined ? ['Recall', percent(held.recall)] : null,
        held.cost !== undefined ? ['Mean cost', number(held.cost)] : null,
        held.cost_of_most_probable !== undefined
            ? ['Mean cost without the rule', number(held.cost_of_most_probable)] : null,
        held.rejected_share !== undefined
            ? ['Without a label', percent(held.rejected_share)] : null,
    ].filter(Boolean) : [];
    return h('div', { class: 'stack' }, [
        h('p', { class: 'rule' }, ruleText(decision)),
        figures.length ? h('div', { class: 'facts' }, figures.map(([label, value]) =>
            h(Fact, { label, value }))) : null,
        held ? h('p', { class: 'minor' }, `On ${plural(held.rows, 'row')} that the training held ` +
            'out.') : null,
        h('div', { class: 'buttons' }, h(ScopedButton, {
            scope: 'write', class: 'danger', onClick: remove }, 'Remove the rule')),
    ]);
}

/* Whether a model has probabilities, without which it has no rules. */
function hasProbabilities({ metrics }) {
    return [metrics?.validation, metrics?.train].some((m) => Number.isFinite(m?.log_loss));
}

function NoProbabilities({ model }) {
    return h('p', { class: 'warnings' }, [
        'This model gives scores and no probabilities, so it has no threshold and no costs. ',
        h('a', { href: link(['train'], { job: model.job }) }, 'Train it again'),
        ' with the parameter calibrate, which makes probabilities of the scores, or by another ' +
            'method.',
    ]);
}

/* Why nothing can be tried. */
function reason({ tooMany }) {
    if (tooMany) {
        return 'There are too many predictions to try a rule on them here. When a rule is ' +
            'stored, what it does on the held-out rows is shown above.';
    }
    return `The training of this version kept no predictions for held-out rows, so what a rule ` +
        `changes cannot be shown here. Choose data above to try it on, or train again with ` +
        'rows held out.';
}

/* Rules that can be tried, for the predictions that are there. on: name of the chosen data. */
function Trials({ model, data, on, store }) {
    const two = model.classes.length === 2;
    const nothing = !data.rows && !data.curve;
    return h('div', { class: 'stack' }, [
        nothing ? h('p', { class: 'warnings' }, reason(data)) : null,
        two && !nothing ? h(Threshold, { model, data, on, store }) : null,
        h(CostRule, { model, rows: data.rows, on, store }),
    ]);
}

export class Decision extends Component {
    constructor(props) {
        super(props);
        this.state = { error: null };
        this.store = this.store.bind(this);
    }

    /* rule: null removes it. */
    async store(rule) {
        const { model, etag } = this.props;
        const before = model.decision_rule?.rule || null;
        this.setState({ error: null });
        try {
            await setRule(model, rule, etag);
        } catch (error) {
            this.setState({ error });
            if (error.status === 412) {
                changed('models');
            }
            return;
        }
        announce(rule ? 'The rule is stored: predictions use it from now on'
            : 'The rule was removed',
        { label: 'Undo', scope: 'write', run: () => void this.undo(before) });
    }

    /* Back to the rule before, if nobody has changed the version since. */
    async undo(before) {
        const { model } = this.props;
        try {
            const now = await call('HEAD', versionPath(model));
            await setRule(model, before, now.headers.get('ETag'));
            announce(before ? 'The rule before is stored again' : 'The rule was removed again');
        } catch (error) {
            announce(`Not undone: ${error.message}`);
        }
    }

    render({ model, query }, { error }) {
        const on = query.data || '';
        return h('div', { class: 'stack' }, [
            h('section', { class: 'card stack', 'aria-labelledby': 'rule-title' }, [
                h('h2', { id: 'rule-title' }, 'The rule that is used now'),
                error ? h(ChangeProblem, { error }) : null,
                h(Stored, { model, remove: () => void this.store(null) }),
            ]),
            !hasProbabilities(model) ? h(NoProbabilities, { model }) : h('div', {
                class: 'stack' }, [
                h('div', { class: 'fields broad' }, h(DatasetChoice, {
                    label: 'Try rules on', value: on, none: 'Held-out rows of the training',
                    preferred: model.dataset?.name,
                    onChange: (value) => setQuery({ data: value }),
                })),
                on && on === model.dataset?.name ? h('p', { class: 'warnings' },
                    'The model has learned from these rows: here a rule looks better than it is.')
                    : null,
                h(Loaded, {
                    of: [model.name, model.version, on], what: 'the predictions',
                    load: (signal) => loadHeldOut(model, on, signal),
                    show: (data) => h(Trials, { key: on, model, data, on, store: this.store }),
                }),
            ]),
        ]);
    }
}
