/* The weights of linear discriminants, with intervals and tests where the training made them. */
import { Component, h } from '../../base/preact.js';
import { count, number } from '../../base/format.js';
import { Fact } from '../../parts/fact.js';
import { Choice } from '../../parts/fields.js';
import { Bars } from './bars.js';

/* The name of a discriminant: the classes that it tells apart. */
export function discriminantName({ positive, class: one, classes }, all) {
    if (classes) {
        return `“${classes[0]}” or “${classes[1]}”`;
    }
    if (positive !== undefined) {
        const other = all.length === 2 ? all.find((c) => c !== positive) : undefined;
        return other === undefined ? `“${positive}”` : `“${positive}” rather than “${other}”`;
    }
    return `“${one}” rather than the others`;
}

function meaning({ positive, class: one }) {
    return `A positive weight (to the right) speaks for “${positive ?? one}” as the value grows, ` +
        'a negative one against it.';
}

/* The fit as a whole: deviance and criteria of the statistics. */
function Fit({ statistics }) {
    if (!statistics?.available) {
        return statistics?.message ? h('p', { class: 'minor' },
            `There are no intervals of the weights: ${statistics.message}.`) : null;
    }
    const [r] = statistics.responses;
    const facts = [
        [r.mcfadden_r_squared, 'McFadden’s R²: 0 explains nothing, above 0.2 is good'],
        [r.r_squared, 'R²: share of the variance that is explained'],
        [r.aic, 'AIC: less is better'], [r.bic, 'BIC: less is better'],
        [r.p, 'p of all weights together'],
    ].filter(([value]) => Number.isFinite(value));
    return h('div', { class: 'stack' }, [
        h('div', { class: 'facts' }, facts.map(([value, label]) => h(Fact, { label, value }))),
        (statistics.notes || []).length ? h('ul', { class: 'minor' },
            statistics.notes.map((note) => h('li', {}, note))) : null,
    ]);
}

/* weights: of the API, kind linear */
export class Weights extends Component {
    constructor(props) {
        super(props);
        this.state = { chosen: 0 };
    }

    /* The bars of discriminant i; the same array as long as nothing changes. */
    items(i) {
        const { weights } = this.props;
        if (this.of !== weights || this.by !== i) {
            const tests = weights.statistics?.scores?.[i]?.weights;
            this.of = weights;
            this.by = i;
            this.list = weights.w[i].map((value, j) => {
                const t = tests?.[j];
                return { name: weights.features[j], value, low: t?.low, high: t?.high,
                    z: t?.statistic, test: t };
            });
        }
        return this.list;
    }

    render({ model, weights }, { chosen }) {
        const { discriminants, features, w0, statistics } = weights;
        const items = this.items(chosen);
        const of = discriminants[chosen];
        const name = discriminantName(of, model.classes);
        const intervals = items.some((item) => Number.isFinite(item.low));
        return h('section', { class: 'card stack', 'aria-labelledby': 'weights-title' }, [
            h('h2', { id: 'weights-title' }, 'Weights'),
            h('p', { class: 'minor' }, `The score of a row is the sum of its values times their ` +
                'weights. Weights are per unit of their column: a column in small units has ' +
                'large ones, so compare them with care.'),
            discriminants.length > 1 ? h('div', { class: 'fields broad' }, h(Choice, {
                label: `Classes (${count(discriminants.length)} scores)`, value: chosen,
                options: discriminants.slice(0, 1000).map((d, i) => ({
                    value: i, label: discriminantName(d, model.classes) })),
                onChange: (value) => this.setState({ chosen: Number(value) }),
            })) : null,
            h('div', { class: 'facts' }, [
                h(Fact, { label: 'weights', value: features.length }),
                w0 ? h(Fact, { label: 'intercept: the score if all values are 0',
                    value: w0[chosen] }) : null,
            ]),
            h(Bars, {
                title: `Weights: ${name}`, name: `${model.name}-weights`, items, label: 'Weight',
                more: intervals ? [
                    { name: 'standard error', value: (v) => v.test?.standard_error },
                    { name: 'statistic', value: (v) => v.z },
                    { name: 'p', value: (v) => v.test?.p },
                    { name: 'odds ratio', value: (v) => v.test?.odds_ratio },
                ] : [],
            }, [
                h('p', {}, `${meaning(of)}${intervals ? ` The thin lines are ${
                    number(100 * statistics.level)} % intervals: where one crosses 0, the ` +
                    'direction is not certain.' : ''}`),
            ]),
            h(Fit, { statistics }),
        ]);
    }
}
