/** What metrics read at each scrape. */
export interface Readings {
  /** Bytes held by seats, write buffers and queued requests. */
  bufferedBytes(): number
  isUpstreamUp(): boolean
  isOtlpReceiverUp(): boolean
  /** Lines that the events file did not take. */
  eventsDropped(): number
  /** What may disturb an exchange opened now. */
  chaos(): { readonly path: boolean; readonly faults: boolean; readonly scenario: boolean }
}
