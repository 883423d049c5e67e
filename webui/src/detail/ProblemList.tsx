// What is wrong with a configuration, each with its line and its place.
import { plural } from "../ui/format";
import css from "./detail.module.css";
import type { Problem } from "./problems";

export function ProblemList({ problems }: { problems: readonly Problem[] }) {
  return (
    <>
      <p>{plural(problems.length, "problem")} to mend:</p>
      <ul className={css["problems"]}>
        {problems.map((problem) => (
          <li key={`${problem.path} ${problem.message}`}>
            <span aria-hidden="true">✕ </span>
            {problem.line ? `Line ${problem.line}: ` : ""}
            {problem.path === "" ? "" : `${problem.path}: `}
            {problem.message}
          </li>
        ))}
      </ul>
    </>
  );
}
