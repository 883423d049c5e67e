// The words of the hyperparameter pictures: axes, values and what is picked.

export interface VizAxis {
  key: string;
  label: string;
  kind: "linear" | "log" | "category";
  /** The categories in their order; found from the data when left out. */
  values?: readonly string[];
}

export type VizValue = number | string;

export type Id = number | string;

/** Per axis key: a range of numbers or the chosen categories. */
export type Brushes = Readonly<Record<string, readonly [number, number] | readonly string[]>>;
