/** An event store in memory for the v1 SDK: events get ids, and a client that comes back gets what it missed. */
import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

export function createEventStore(): EventStore {
  const events: { readonly id: string; readonly streamId: string; readonly message: Parameters<EventStore['storeEvent']>[1] }[] = []
  const streamOf = (id: string): string | undefined => events.find((event) => event.id === id)?.streamId
  return {
    async storeEvent(streamId, message) {
      const id = `${streamId}_${events.length}`
      events.push({ id, streamId, message })
      return id
    },
    getStreamIdForEventId: async (id) => streamOf(id),
    async replayEventsAfter(lastId, { send }) {
      const streamId = streamOf(lastId) ?? ''
      const from = events.findIndex(({ id }) => id === lastId) + 1
      // The priming event carries no message.
      for (const event of events.slice(from))
        if (event.streamId === streamId && 'jsonrpc' in event.message) await send(event.id, event.message)
      return streamId
    },
  }
}
