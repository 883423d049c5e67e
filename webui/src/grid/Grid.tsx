// The one big table of the product: real DOM, role=grid, recycled rows of one height, roving focus; cards when narrow.
import { GridCards } from "./GridCards";
import { GridTable } from "./GridTable";
import type { GridProps } from "./types";
import { useMedia } from "./useMedia";

export type { GridColumn, GridProps, Point, Sort } from "./types";

export function Grid<Row>(props: GridProps<Row>) {
  const isNarrow = useMedia("(max-width: 767px)");
  if (isNarrow && props.card) return <GridCards {...props} card={props.card} />;
  return <GridTable {...props} />;
}
