package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/common/expfmt"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

const workers = 3

// Passes are as short as the first bucket is wide.
var passes = []string{"success", "success", "requeue", "after", "after", "after", "error", "error", "terminal"}

// Metrics writes what a controller exposes after these passes, and the metrics of its process.
func writeMetrics(out io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	seen := make(chan struct{}, len(passes))
	unit, err := controller.NewUnmanaged("fluxinstance", controller.Options{
		MaxConcurrentReconciles: workers,
		Logger:                  logr.Discard(),
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Hour, time.Hour),
		Reconciler: reconcile.Func(func(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
			defer func() { seen <- struct{}{} }()
			return answer(request.Namespace)
		}),
	})
	if err != nil {
		return err
	}
	requests := source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		for index, pass := range passes {
			queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: pass, Name: fmt.Sprint(index)}})
		}
		return nil
	})
	if err := unit.Watch(requests); err != nil {
		return err
	}
	ended := make(chan error)
	go func() { ended <- unit.Start(ctx) }()
	for range passes {
		select {
		case <-seen:
		case err := <-ended:
			return fmt.Errorf("the controller ended early: %w", err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		return err
	}
	return writeFamilies(out)
}

func answer(pass string) (reconcile.Result, error) {
	switch pass {
	case "requeue":
		return reconcile.Result{Requeue: true}, nil
	case "after":
		return reconcile.Result{RequeueAfter: time.Hour}, nil
	case "error":
		return reconcile.Result{}, errors.New("failed")
	case "terminal":
		return reconcile.Result{}, reconcile.TerminalError(errors.New("failed"))
	default:
		return reconcile.Result{}, nil
	}
}

func writeFamilies(out io.Writer) error {
	families, err := metrics.Registry.Gather()
	if err != nil {
		return err
	}
	for _, family := range families {
		name := family.GetName()
		if !strings.HasPrefix(name, "controller_runtime_") && !strings.HasPrefix(name, "process_") {
			continue
		}
		if _, err := expfmt.MetricFamilyToText(out, family); err != nil {
			return err
		}
	}
	return nil
}
