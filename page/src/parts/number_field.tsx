// A field for a whole number, or nothing.

import { useId } from "preact/hooks";

export interface NumberFieldProps {
  label: string;
  value: number | undefined;
  min: number;
  max?: number;
  placeholder?: string;
  change: (value: number | undefined) => void;
}

export function NumberField({ label, value, min, max, placeholder, change }: NumberFieldProps) {
  const id = useId();
  return (
    <div class="inline">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="number"
        min={min}
        max={max}
        step={1}
        value={value ?? ""}
        placeholder={placeholder}
        onInput={(event) => {
          const { value: text, valueAsNumber } = event.currentTarget;
          if (text === "") change(undefined);
          else if (Number.isSafeInteger(valueAsNumber)) change(valueAsNumber);
        }}
      />
    </div>
  );
}
