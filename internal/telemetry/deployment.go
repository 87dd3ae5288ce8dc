package telemetry

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Deployment is the state of a deployment in numbers. It has no names: whoever may scrape may not thereby learn which folders
// there are, and the number of series doesn't grow with them.
type Deployment struct {
	// Folders is the number of folders in each state, Pages that of documents.
	Folders, Pages map[string]int64
	// Overdue counts the active folders that have had no completed sync for two of their intervals, and at least two hours.
	Overdue int64
	// Syncing counts the folder syncs under way, InFlight the page syncs.
	Syncing, InFlight int64
	// Holds wait for a person; Deletes were accepted and haven't ended; DueReads' time has come.
	Holds, Deletes, DueReads int64
	Maintenance, TemporalUp  bool
}

// deploymentPatience bounds the reading of the figures: a scraper gives up after ten seconds.
const deploymentPatience = 5 * time.Second

var (
	postgresUp  = prometheus.NewDesc("loresync_postgres_up", "Whether this process reaches Postgres.", nil, nil)
	temporalUp  = prometheus.NewDesc("loresync_temporal_up", "Whether this process reaches Temporal.", nil, nil)
	maintenance = prometheus.NewDesc("loresync_maintenance", "Whether maintenance stops all starts.", nil, nil)
	folderCount = prometheus.NewDesc("loresync_folders", "Registered folders by state.", []string{"state"}, nil)
	pageCount   = prometheus.NewDesc("loresync_pages", "Pages by state; a failed, held or syncing page also counts as what it is besides.",
		[]string{"state"}, nil)
	overdue  = prometheus.NewDesc("loresync_folders_overdue", "Active folders without a completed sync for two intervals.", nil, nil)
	syncing  = prometheus.NewDesc("loresync_folder_syncs_running", "Folder syncs under way.", nil, nil)
	inFlight = prometheus.NewDesc("loresync_page_syncs_running", "Page syncs under way.", nil, nil)
	holds    = prometheus.NewDesc("loresync_holds", "Planned removals that wait for a person.", nil, nil)
	deletes  = prometheus.NewDesc("loresync_deletes_unfinished", "Deletes that were accepted and haven't ended.", nil, nil)
	dueReads = prometheus.NewDesc("loresync_reads_due", "Reads whose time has come.", nil, nil)
)

// deploymentCollector reads the figures at each scrape, so that every gateway tells the same truth.
type deploymentCollector struct {
	read func(ctx context.Context) (Deployment, error)
}

// NewDeploymentCollector gives a collector of what read returns. An error is a figure too: loresync_postgres_up is 0 then, and
// the others are absent rather than wrong.
func NewDeploymentCollector(read func(ctx context.Context) (Deployment, error)) prometheus.Collector {
	return deploymentCollector{read: read}
}

// Describe names all figures.
func (deploymentCollector) Describe(described chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		postgresUp, temporalUp, maintenance, folderCount, pageCount, overdue, syncing, inFlight, holds, deletes, dueReads,
	} {
		described <- desc
	}
}

// Collect reads and gives the figures. The interface has no context, so the time is bounded here.
func (c deploymentCollector) Collect(found chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), deploymentPatience)
	defer cancel()
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		found <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	d, err := c.read(ctx)
	gauge(postgresUp, one(err == nil))
	if err != nil {
		return
	}
	gauge(temporalUp, one(d.TemporalUp))
	gauge(maintenance, one(d.Maintenance))
	for state, n := range d.Folders {
		gauge(folderCount, float64(n), state)
	}
	for state, n := range d.Pages {
		gauge(pageCount, float64(n), state)
	}
	for desc, n := range map[*prometheus.Desc]int64{
		overdue: d.Overdue, syncing: d.Syncing, inFlight: d.InFlight, holds: d.Holds, deletes: d.Deletes, dueReads: d.DueReads,
	} {
		gauge(desc, float64(n))
	}
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
