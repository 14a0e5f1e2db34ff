/* Curves of a model over all thresholds: ROC, precision and recall, calibration. */
import { Component, h } from '../../base/preact.js';
import { d3 } from '../../base/d3.js';
import { number, percent } from '../../base/format.js';
import { frame, xAxis, yAxis } from '../../parts/axes.js';
import { Choice } from '../../parts/fields.js';
import { Figure } from '../../parts/figure.js';
import { Legend, colour } from '../../parts/palette.js';

const MOST_LINES = 8; /* more classes: the worst ones */

const KINDS = {
    roc: {
        title: 'ROC curve', x: 'false_positive_rate', y: 'true_positive_rate',
        xLabel: 'Share of other rows taken for it', yLabel: 'Share of its rows found',
        text: 'Each point is a threshold. The nearer to the upper left corner, the better; the ' +
            'dashed line is guessing.',
        area: 'area',
    },
    precision_recall: {
        title: 'Precision and recall', x: 'recall', y: 'precision',
        xLabel: 'Recall: share of its rows found', yLabel: 'Precision: share that is right',
        text: 'How many of the rows with this label are right, as more of them are found. The ' +
            'nearer to the upper right corner, the better.',
        area: 'average precision',
    },
};

const unit = (range) => d3.scaleLinear().domain([0, 1]).range(range);
const height = (width) => Math.min(width, 360);

function axes(svg, size, labels) {
    const inner = frame(svg, size);
    const x = unit([0, inner.width]);
    const y = unit([inner.height, 0]);
    xAxis(inner, x, { label: labels.x, grid: true, ticks: 5 });
    yAxis(inner, y, { label: labels.y, grid: true, ticks: 5 });
    return { ...inner, x, y };
}

function diagonal({ g, x, y }) {
    g.append('line').attr('class', 'chance').attr('x1', x(0)).attr('y1', y(0)).attr('x2', x(1))
        .attr('y2', y(1));
}

function drawCurves(svg, size, kind, curves) {
    const plot = axes(svg, size, { x: kind.xLabel, y: kind.yLabel });
    if (kind === KINDS.roc) {
        diagonal(plot);
    }
    const line = d3.line().defined((p) => p[kind.x] !== undefined && p[kind.y] !== undefined)
        .x((p) => plot.x(p[kind.x])).y((p) => plot.y(p[kind.y]));
    curves.forEach((curve, i) => plot.g.append('path').attr('class', 'curve')
        .style('stroke', colour(i)).attr('d', line(curve.points)));
}

function curveTable(kind, curves) {
    return {
        names: ['class', kind.x, kind.y, 'threshold'],
        rows: curves.flatMap((c) => c.points.map((p) => [String(c.class), p[kind.x], p[kind.y],
            p.threshold])),
    };
}

/* The curves of one kind, of all classes or of the chosen one. curves: as the API has them. */
export class Curves extends Component {
    constructor(props) {
        super(props);
        this.state = { chosen: '' };
    }

    /* The curves that are drawn; the same array as long as nothing changes. */
    shown() {
        const { curves } = this.props;
        const { chosen } = this.state;
        if (this.of !== curves || this.by !== chosen) {
            this.of = curves;
            this.by = chosen;
            this.list = chosen !== '' ? [curves[Number(chosen)]]
                : curves.length <= MOST_LINES ? curves
                    : [...curves].sort((a, b) => (a.area ?? 2) - (b.area ?? 2))
                        .slice(0, MOST_LINES);
        }
        return this.list;
    }

    render({ of, curves, name }, { chosen }) {
        const kind = KINDS[of];
        const shown = this.shown();
        return h('div', { class: 'card' }, h(Figure, {
            title: kind.title, name: `${name}-${of}`, height, of: shown,
            draw: (svg, size) => drawCurves(svg, size, kind, shown),
            table: () => curveTable(kind, shown),
        }, [
            h('p', { class: 'minor' }, kind.text),
            curves.length > MOST_LINES ? h(Choice, {
                label: 'Classes', value: chosen,
                options: [{ value: '', label: `The ${MOST_LINES} with the worst curves` },
                    ...curves.map((c, i) => ({ value: i, label: String(c.class) }))],
                onChange: (value) => this.setState({ chosen: value }),
            }) : null,
            h(Legend, {
                line: true,
                names: shown.map((c) => `${c.class}: ${kind.area} ${number(c.area, 3)}`),
            }),
        ]));
    }
}

function drawCalibration(svg, size, bins) {
    const plot = axes(svg, size, { x: 'How sure the model is', y: 'Share of right labels' });
    diagonal(plot);
    const most = d3.max(bins, (b) => b.weight);
    const radius = (b) => 3 + 9 * Math.sqrt(b.weight / most);
    plot.g.append('path').attr('class', 'curve').style('stroke', colour(0))
        .attr('d', d3.line().x((b) => plot.x(b.confidence)).y((b) => plot.y(b.accuracy))(bins));
    plot.g.selectAll('circle').data(bins).enter().append('circle')
        .attr('cx', (b) => plot.x(b.confidence)).attr('cy', (b) => plot.y(b.accuracy))
        .attr('r', radius).style('fill', colour(0));
}

/* bins: as the API has them. */
export class Calibration extends Component {
    bins() {
        if (this.of !== this.props.bins) {
            this.of = this.props.bins;
            this.list = this.of.filter((b) => b.weight > 0 && b.accuracy !== null);
        }
        return this.list;
    }

    render({ name }) {
        const bins = this.bins();
        return h('div', { class: 'card' }, h(Figure, {
            title: 'Calibration', name: `${name}-calibration`, height, of: bins,
            draw: (svg, size) => drawCalibration(svg, size, bins),
            table: () => ({
                names: ['from', 'to', 'rows', 'mean probability', 'share right'],
                rows: bins.map((b) => [b.low, b.high, b.weight, b.confidence, b.accuracy]),
            }),
        }, h('p', { class: 'minor' }, 'Whether the probabilities are true: of the labels given ' +
            `with ${percent(0.9, 0)}, 90 of 100 should be right. Points below the dashed line: ` +
            'the model is too sure of itself. Larger points stand for more rows.')));
    }
}
