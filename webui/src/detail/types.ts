// Names for what pages of experiments and trials hold in hand.

import type { Schemas } from "../api/schema";

export type Experiment = Schemas["Experiment"];
export type Trial = Schemas["Trial"];
export type Checkpoint = Schemas["Checkpoint"];
export type Allocation = Schemas["Allocation"];
