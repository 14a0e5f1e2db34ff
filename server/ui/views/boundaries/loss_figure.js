/* The surface of a loss over two weights as filled contours. */
import { h } from '../../base/preact.js';
import { d3 } from '../../base/d3.js';
import { MARGIN, frame, xAxis, yAxis } from '../../parts/axes.js';
import { curveOf, pathOf } from '../../parts/contours.js';
import { number } from '../../base/format.js';
import { Figure } from '../../parts/figure.js';
import { symbol } from '../../parts/palette.js';
import { newId } from '../../parts/fields.js';
import { drawGround, scaleOf } from '../../parts/plane_layers.js';

const LEVELS = 14;

/* The levels are quantiles of the losses: close together in the valley. */
function levelsOf(field) {
    const sorted = [...field].sort(d3.ascending);
    return [...new Set(d3.range(1, LEVELS).map((i) => d3.quantile(sorted, (i / LEVELS) ** 1.5)))];
}

function mark(g, shape, size, [x, y], kind) {
    g.append('path').attr('class', kind).attr('d', symbol(shape, size))
        .attr('transform', `translate(${x},${y})`);
}

function draw(svg, size, answer, id) {
    const [across, up] = answer.weights;
    const inner = frame(svg, size, { ...MARGIN, right: 20 });
    const ends = ({ values }) => ({ from: values[0], to: values[values.length - 1] });
    const x = scaleOf(ends(across), [0, inner.width]);
    const y = scaleOf(ends(up), [inner.height, 0]);
    const ground = drawGround(inner, id);
    const field = answer.values.flat();
    const grid = { x: across.values, y: up.values };
    const path = pathOf(grid, x, y);
    for (const level of levelsOf(field)) {
        ground.g.append('path').attr('class', 'loss-level')
            .attr('d', path(curveOf(grid, field, level)));
    }
    mark(ground.g, 1, 90, [x(across.weight), y(up.weight)], 'loss-mark');
    mark(ground.g, 0, 60, answer.minimum.weights.map((v, i) => [x, y][i](v)), 'loss-mark least');
    xAxis(inner, x, { label: weightName(across) });
    yAxis(inner, y, { label: weightName(up) });
}

const weightName = ({ name }) => (name === 'intercept' ? name : `weight of ${name}`);

function rowsOf({ weights: [across, up], values }) {
    return values.flatMap((row, j) => row.map((v, i) => [across.values[i], up.values[j], v]));
}

/* answer: of loss_grid, over two weights */
export function LossFigure({ model, answer }) {
    const [across, up] = answer.weights;
    return h(Figure, {
        title: `Loss over ${weightName(across)} and ${weightName(up)}`, level: 2,
        label: `Loss over ${weightName(across)} and ${weightName(up)}; least ` +
            number(answer.minimum.value),
        name: `${model.name}-loss`, of: answer,
        height: (width) => Math.min(Math.max(Math.round(width * 0.7), 280), 600),
        draw: (svg, size) => draw(svg, size, answer, newId('loss')),
        table: () => ({ names: [across.name, up.name, 'loss'], rows: rowsOf(answer) }),
    });
}
