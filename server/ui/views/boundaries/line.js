/* A model with one column of numbers: its probabilities or scores along this column. */
import { h } from '../../base/preact.js';
import { d3 } from '../../base/d3.js';
import { writeDate } from '../../base/dates.js';
import { frame, xAxis, yAxis } from '../../parts/axes.js';
import { Figure } from '../../parts/figure.js';
import { Loaded } from '../../parts/loaded.js';
import { Legend, colour } from '../../parts/palette.js';
import { scaleOf } from '../../parts/plane_layers.js';
import { loadGrid } from './answers.js';
import { Others, fixedValues } from './others.js';

const STEPS = 201;
const MOST_LINES = 10;

/* The lines that are drawn: {names, planes, label}. */
function linesOf({ probabilities, scores, classes }) {
    const planes = probabilities || scores || [];
    return {
        planes: planes.slice(0, MOST_LINES), label: probabilities ? 'Probability' : 'Score',
        names: (planes.length === classes.length ? classes : planes.map((_, m) => `score ${m + 1}`))
            .slice(0, MOST_LINES),
    };
}

function draw(svg, size, grid, x) {
    const { planes, label } = linesOf(grid);
    const inner = frame(svg, size);
    const right = scaleOf({ from: grid.x[0], to: grid.x[grid.x.length - 1], form: x.form },
        [0, inner.width]);
    const [least, most] = label === 'Score' ? d3.extent(planes.flat()) : [0, 1];
    const up = d3.scaleLinear().domain([least, most]).range([inner.height, 0]);
    yAxis(inner, up, { label, grid: true });
    xAxis(inner, right.axis || right, { label: x.name });
    planes.forEach((plane, k) => inner.g.append('path').attr('class', 'plane-line')
        .style('stroke', colour(k))
        .attr('d', d3.line()(plane.map((v, i) => [right(grid.x[i]), up(v)]))));
}

function Answers({ grid, model, query, x }) {
    const { names, planes, label } = linesOf(grid);
    return h('div', { class: 'split' }, [
        h('div', { class: 'card' }, [
            h(Figure, {
                title: `${model.name} along ${x.name}`, level: 2, height: 360,
                name: `${model.name}-line`, of: grid,
                draw: (svg, size) => draw(svg, size, grid, x),
                table: () => ({
                    names: [x.name, ...names.map((name) => `${label.toLowerCase()} ${name}`),
                        'answer'],
                    rows: grid.x.map((v, i) => [x.form ? writeDate(v, x.form) : v,
                        ...planes.map((plane) => plane[i]),
                        grid.labels[i] === null ? 'ambiguous' : grid.classes[grid.labels[i]]]),
                }),
            }, [h(Legend, { names, line: true })]),
            h('p', {}, 'The model has one column of numbers, so its answers are a line. Each ' +
                'class has a curve: as a rule the highest one at a place is the answer there.'),
        ]),
        h(Others, { model, query, at: grid.at }),
    ]);
}

/* x: {name, form} */
export function Line({ model, query, x }) {
    const at = fixedValues(query);
    return h(Loaded, {
        of: at, what: 'the answers',
        load: (signal) => loadGrid(model, { x, at, steps: STEPS }, signal),
        show: (grid) => h(Answers, { grid, model, query, x }),
    });
}
