// What a picture says when there is too little to draw.

import { Empty } from "../../../ui/Empty";

export function NeedsTrials() {
  return <Empty title="Too little to draw">This needs at least two trials that have reported the metric.</Empty>;
}
