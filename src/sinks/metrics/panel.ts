/** Panels as data: each lives with the metric it shows and asks for it by its `about`, so that none can name one that does not exist. */

/** A query of Prometheus with Grafana's variables in it. */
export interface PanelQuery {
  readonly expr: string
  /** `{{label}}` stands for a label's value; empty: the panel's title says it all. */
  readonly legend: string
  /** Single observations of it carry a trace. */
  readonly hasExemplars?: true
}

/** `cps`: per second. `short`: a number; also seconds per second. */
export type PanelUnit = 's' | 'short' | 'cps' | 'percentunit' | 'bytes' | 'Bps' | 'bool_yes_no' | 'dateTimeFromNow'

interface PanelBase {
  /** What boards call it; of all panels the only one. */
  readonly id: string
  readonly title: string
  /** What it shows, and how to read it. */
  readonly description: string
  readonly unit: PanelUnit
  readonly queries: readonly PanelQuery[]
}
export type Panel =
  /** One number of the whole range, or of now. */
  | (PanelBase & {
      readonly kind: 'stat'
      /** Shown where nothing was counted yet; absent: no data. */
      readonly ifNone?: string
      /** Alarming from here on, or below: `{ below: 1 }`. */
      readonly alarm?: { readonly from: number } | { readonly below: number }
    })
  | (PanelBase & { readonly kind: 'lines'; readonly isStacked?: true })
  /** Of a histogram, in time. */
  | (PanelBase & { readonly kind: 'heatmap' })
  /** Of the whole range, or of now. `pivot`: one label's values become rows, another's columns. */
  | (PanelBase & { readonly kind: 'table'; readonly pivot?: { readonly rows: string; readonly columns: string } })
  /** On and off in time. */
  | (PanelBase & { readonly kind: 'timeline' })

/** Marks times on every panel of a board: where the query is not 0. */
export interface Annotation {
  readonly id: string
  readonly title: string
  readonly expr: string
  readonly legend: string
  readonly color: string
}
