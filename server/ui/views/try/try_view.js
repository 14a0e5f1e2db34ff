/* The view "Try it": the choice of a model, or one model. */
import { h } from '../../base/preact.js';
import { ModelChoice } from './model_choice.js';
import { TryModel } from './try_model.js';

export function TryView({ path, query }) {
    return path.length > 0
        ? h(TryModel, { key: `${path[0]}@${query.version || ''}`, name: path[0], query })
        : h(ModelChoice);
}
