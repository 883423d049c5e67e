// What every picture of a search is given.

import type { Experiment } from "../../../detail/types";
import type { TrialsAnswer } from "../useTrials";

export interface VizProps {
  experiment: Experiment;
  found: TrialsAnswer;
}
