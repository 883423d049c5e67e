// The versions that a checkpoint is registered as.
import { useApi } from "../api/useApi";
import { ErrorCard } from "../ui/ErrorCard";
import { Link } from "../url";
import css from "./registry.module.css";

export function RegisteredAs({ uuid }: { uuid: string }) {
  const found = useApi("listCheckpointVersions", { path: { checkpoint_uuid: uuid } });
  const versions = found.data?.modelVersions ?? [];
  if (found.error) return <ErrorCard error={found.error} onRetry={found.refetch} />;
  if (versions.length === 0) return null;
  return (
    <div>
      <p>It is in the model registry, so its files are kept:</p>
      <ul className={css["list"]} aria-label="Registered as">
        {versions.map(({ id, model, version }) => (
          <li key={id}>
            <Link href={`/models/${model.id}/versions/${version}`}>
              <span>{model.name}</span> version {version}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
