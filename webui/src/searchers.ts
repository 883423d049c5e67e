// Written by scripts/make_webui_searchers.py from the searchers of the master; do not edit.

export interface Searcher {
  /** Its name in the form of a new experiment; empty: the form does not offer it. */
  label: string;
  isMultiTrial: boolean;
  /** It compares trials at lengths, so the config must say how long they train. */
  needsLength: boolean;
  /** Ranges of hyperparameters need a `count`. */
  usesCounts: boolean;
  /** The keys it takes besides the common ones; others are an error there. */
  keys: readonly string[];
}

export const COMMON_KEYS: readonly string[] = [
  "metric",
  "smaller_is_better",
  "source_trial_id",
  "source_checkpoint_uuid",
];

export const SEARCHERS: Readonly<Record<string, Searcher>> = {
  auto: {
    label: "Automatic: learns where to look, stops bad trials early",
    isMultiTrial: true,
    needsLength: true,
    usesCounts: false,
    keys: ["max_concurrent_trials", "time_metric", "max_time", "max_length", "initial_points", "max_trials", "budget"],
  },
  single: {
    label: "One trial",
    isMultiTrial: false,
    needsLength: false,
    usesCounts: false,
    keys: ["max_length"],
  },
  random: {
    label: "Random",
    isMultiTrial: true,
    needsLength: false,
    usesCounts: false,
    keys: [
      "max_concurrent_trials",
      "max_length",
      "metrics",
      "initial_points",
      "sampler_options",
      "sampler",
      "max_trials",
    ],
  },
  grid: {
    label: "Grid",
    isMultiTrial: true,
    needsLength: false,
    usesCounts: true,
    keys: ["max_concurrent_trials", "max_length"],
  },
  adaptive_asha: {
    label: "Adaptive (ASHA): stops bad trials early",
    isMultiTrial: true,
    needsLength: true,
    usesCounts: false,
    keys: [
      "divisor",
      "max_concurrent_trials",
      "time_metric",
      "max_time",
      "stop_once",
      "metrics",
      "initial_points",
      "sampler_options",
      "sampler",
      "max_trials",
      "mode",
      "max_rungs",
      "bracket_rungs",
      "max_length",
    ],
  },
  async_halving: {
    label: "",
    isMultiTrial: true,
    needsLength: true,
    usesCounts: false,
    keys: [
      "divisor",
      "max_concurrent_trials",
      "time_metric",
      "max_time",
      "stop_once",
      "metrics",
      "initial_points",
      "sampler_options",
      "sampler",
      "max_trials",
      "max_length",
      "num_rungs",
    ],
  },
  optuna: {
    label: "",
    isMultiTrial: true,
    needsLength: false,
    usesCounts: false,
    keys: [
      "max_concurrent_trials",
      "time_metric",
      "max_time",
      "max_length",
      "metrics",
      "initial_points",
      "sampler_options",
      "sampler",
      "max_trials",
    ],
  },
  custom: {
    label: "",
    isMultiTrial: true,
    needsLength: false,
    usesCounts: false,
    keys: ["unit"],
  },
  pbt: {
    label: "",
    isMultiTrial: true,
    needsLength: false,
    usesCounts: false,
    keys: ["population_size", "num_rounds", "length_per_round", "replace_function", "explore_function"],
  },
  adaptive: {
    label: "",
    isMultiTrial: true,
    needsLength: false,
    usesCounts: false,
    keys: ["budget", "bracket_rungs", "mode", "divisor", "max_rungs", "train_stragglers", "max_length"],
  },
  adaptive_simple: {
    label: "",
    isMultiTrial: true,
    needsLength: false,
    usesCounts: false,
    keys: ["mode", "divisor", "max_rungs", "max_length", "max_trials"],
  },
  sync_halving: {
    label: "",
    isMultiTrial: true,
    needsLength: false,
    usesCounts: false,
    keys: ["budget", "divisor", "train_stragglers", "max_length", "num_rungs"],
  },
};
