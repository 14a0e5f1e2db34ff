/* Gaussian classes over two columns: ellipses of their covariances. */
import { Component, h } from '../../base/preact.js';
import { d3 } from '../../base/d3.js';
import { number } from '../../base/format.js';
import { frame, xAxis, yAxis } from '../../parts/axes.js';
import { Choice } from '../../parts/fields.js';
import { Figure } from '../../parts/figure.js';
import { Legend, colour, symbol } from '../../parts/palette.js';

const RADII = [1, 2]; /* standard deviations */
const POINTS = 72; /* of an ellipse */
const MARGIN = 1.1;

/* The ellipse at r standard deviations of a Gaussian, as points. varX, cov, varY: its covariance
 * matrix, whose eigenvectors are the axes of the ellipse. */
function ellipse({ mean: [mx, my], varX, cov, varY }, r) {
    const half = Math.hypot((varX - varY) / 2, cov);
    const [long, short] = [half, -half].map((d) =>
        r * Math.sqrt(Math.max((varX + varY) / 2 + d, 0)));
    const turn = Math.atan2(2 * cov, varX - varY) / 2;
    return d3.range(POINTS + 1).map((i) => {
        const t = 2 * Math.PI * i / POINTS;
        const [u, v] = [long * Math.cos(t), short * Math.sin(t)];
        return [mx + u * Math.cos(turn) - v * Math.sin(turn),
            my + u * Math.sin(turn) + v * Math.cos(turn)];
    });
}

/* The range of an axis that has all ellipses. */
function rangeOf(clouds, axis, variance) {
    const reach = (c) => MARGIN * RADII[RADII.length - 1] * Math.sqrt(c[variance]);
    return [d3.min(clouds, (c) => c.mean[axis] - reach(c)),
        d3.max(clouds, (c) => c.mean[axis] + reach(c))];
}

function drawClouds(svg, size, { clouds, x, y }) {
    const inner = frame(svg, size);
    const right = d3.scaleLinear().domain(rangeOf(clouds, 0, 'varX')).range([0, inner.width]);
    const up = d3.scaleLinear().domain(rangeOf(clouds, 1, 'varY')).range([inner.height, 0]);
    yAxis(inner, up, { label: y.feature, grid: true });
    xAxis(inner, right, { label: x.feature });
    const line = d3.line().x(([a]) => right(a)).y(([, b]) => up(b));
    for (const cloud of clouds) {
        const { i } = cloud;
        for (const r of RADII) {
            inner.g.append('path').attr('class', 'hump ellipse')
                .attr('d', line(ellipse(cloud, r)))
                .style('fill', colour(i)).style('stroke', colour(i));
        }
        inner.g.append('path').attr('d', symbol(i, 70)).style('fill', colour(i))
            .attr('transform', `translate(${right(cloud.mean[0])},${up(cloud.mean[1])})`);
    }
}

/*   model
 *   classes     the indices of the classes that are drawn
 *   columns     two or more [{feature, mean: [class], variance: [class], at}]; at: index of
 *               the feature
 *   covariance  (class, i, j) of the features i and j */
export class Ellipses extends Component {
    constructor(props) {
        super(props);
        this.state = { x: 0, y: 1 };
    }

    /* The ellipses; i: index in `classes`, by which a class has its colour. A class with one value
     * in a column has none. */
    clouds({ x, y }) {
        const { classes, columns, covariance } = this.props;
        const [a, b] = [columns[x], columns[y]];
        return classes.map((k, i) => ({
            i, mean: [a.mean[k], b.mean[k]], varX: a.variance[k], varY: b.variance[k],
            cov: covariance(k, a.at, b.at),
        })).filter(({ varX, varY }) => varX > 0 && varY > 0);
    }

    /* Chooses a column for an axis; the other axis gets the earlier one if it had this column. */
    choose(axis, value) {
        this.setState((state) => {
            const other = axis === 'x' ? 'y' : 'x';
            return { [axis]: value, [other]: state[other] === value ? state[axis] : state[other] };
        });
    }

    render({ model, classes, columns }, state) {
        const [x, y] = [columns[state.x], columns[state.y]];
        const clouds = this.clouds(state);
        const names = classes.map((k) => model.classes[k]);
        const flat = names.filter((_, i) => !clouds.some((cloud) => cloud.i === i));
        const choice = (axis, label) => h(Choice, {
            label, value: state[axis],
            options: columns.map((c, i) => ({ value: i, label: c.feature })),
            onChange: (value) => this.choose(axis, Number(value)),
        });
        return h('div', { class: 'stack' }, [
            h('div', { class: 'fields broad' }, [choice('x', 'Across'), choice('y', 'Up')]),
            h(Figure, {
                title: `The classes over “${x.feature}” and “${y.feature}”`,
                name: `${model.name}-ellipses`, height: 380, of: `${state.x} ${state.y}`,
                draw: (svg, size) => drawClouds(svg, size, { clouds, x, y }),
                table: () => ({
                    names: ['class', `mean ${x.feature}`, `mean ${y.feature}`,
                        `deviation ${x.feature}`, `deviation ${y.feature}`, 'correlation'],
                    rows: clouds.map(({ i, mean, varX, varY, cov }) => [String(names[i]), ...mean,
                        Math.sqrt(varX), Math.sqrt(varY), cov / Math.sqrt(varX * varY)]),
                }),
            }, [
                h('p', { class: 'minor' }, 'The ellipses are where the model expects ' +
                    `${number(100 * (1 - Math.exp(-0.5)), 2)} % and ` +
                    `${number(100 * (1 - Math.exp(-2)), 2)} % of the rows of a class, at one and ` +
                    'two standard deviations. A slanted one means that the columns go together.'),
                flat.length > 0 ? h('p', { class: 'minor' }, 'Without an ellipse, as a column ' +
                    `has the same value in all rows: ${flat.join(', ')}.`) : null,
                h(Legend, { names }),
            ]),
        ]);
    }
}
